import { createHash } from 'node:crypto';
import { FlorinError } from '../../core/errors.ts';
import { type GuessBudget, takeTry, undoTry } from '../../storage/access/guessBudgets.ts';
import {
  clearGuesses,
  type Guess,
  type TakenGuess,
  takeGuesses,
  undoGuess,
} from '../../storage/access/signInFailures.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Rank } from '../../vault/passwords.ts';
import type { Context } from '../context.ts';

const hourSeconds = 3_600;
/** Sign-ins of one person from one address or one known device, or proofs of one person. */
const ownLimit = { free: 5, firstSeconds: 15, mostSeconds: hourSeconds } as const;
/** Sign-ins from one address, which several people may share. */
const addressLimit = { free: 20, firstSeconds: 15, mostSeconds: hourSeconds } as const;
/** Sign-ins of one person from a block of addresses. Many people may share it, so the wait stays short. */
const blockLimit = { free: 1_000, firstSeconds: 15, mostSeconds: 60 } as const;
/** Codes for one person beside the right password, from all unknown devices together. A code has six digits only. */
const codeLimit = { free: 10, firstSeconds: hourSeconds, mostSeconds: hourSeconds } as const;

/**
 * How many tries at one person from unknown devices may stand in the budget, by how often the address failed before.
 * An address that never failed gets the last ones: the others cannot use them up (docs/decisions/guesses.md).
 */
export const ceilings = [5_000, 3_750, 2_500, 100] as const;
/** Tries that the budget forgets. This bounds the guesses at one person in the long run: 2,880 a day. */
export const drainPerMinute = 2;
/** So many failures from one block of addresses count like one more of each address in it. */
const blockShare = 10;
/** Nobody fails from so many addresses by mistake. */
export const manyAddresses = 10;

/** A password or code attempt, counted before it is checked. */
export type Attempt = {
  /** Whether the next attempt must wait. This is worth a row in the audit log. */
  readonly isPastFree: boolean;
  readonly failures: number;
  readonly rank: Rank;
  /** The person's budget, if guesses came from many addresses and the audit log was not told yet. */
  readonly unnoticed: Buffer | null;
  /** The attempt was right: clears the person's own count, and takes this attempt out of the shared ones. */
  markCorrect(tx: Queryable): Promise<void>;
  /** The attempt could not be judged: counts as if it had not been made. */
  undo(tx: Queryable): Promise<void>;
};

const subjectOf = (...parts: readonly string[]): Buffer => createHash('sha256').update(parts.join('\0')).digest();

const locked = (seconds: number): FlorinError =>
  new FlorinError(
    'rate_limit_exceeded',
    `Too many wrong tries. Try again in ${seconds} s, or sign in with a passkey.`,
    undefined,
    seconds,
  );

const codesLocked = (seconds: number): FlorinError =>
  new FlorinError(
    'rate_limit_exceeded',
    `Too many wrong codes. Try again in ${seconds} s, use a passkey, or sign in with a browser that you signed in with before.`,
    undefined,
    seconds,
  );

const askedTooOften = (seconds: number): FlorinError =>
  new FlorinError(
    'rate_limit_exceeded',
    `Too many links were asked for. Try again in ${seconds} s, and look for the last link in your mail meanwhile.`,
    undefined,
    seconds,
  );

const crowdedSeconds = 60;
const crowded = (): FlorinError =>
  new FlorinError(
    'rate_limit_exceeded',
    `Too many wrong tries for this e-mail address. Try again in ${crowdedSeconds} s, use a passkey, or sign in with a browser that you signed in with before.`,
    undefined,
    crowdedSeconds,
  );

const takenOf = (taken: readonly TakenGuess[], { subject }: Guess): TakenGuess =>
  taken.find(each => each.subject.equals(subject))!;

/** Counts an attempt on these subjects, or throws. While locked, an attempt is not checked, right or wrong. */
const take = async (tx: Queryable, guesses: readonly Guess[], refusal = locked): Promise<TakenGuess[]> => {
  const outcome = await takeGuesses(tx, guesses);
  if ('locked' in outcome) throw refusal(outcome.locked);
  return outcome.taken;
};

/** In the order in which they were locked: otherwise two attempts that share a subject can block each other. */
const inLockOrder = (guesses: readonly TakenGuess[]): TakenGuess[] =>
  guesses.toSorted((a, b) => Buffer.compare(a.subject, b.subject));

const undoAll = async (tx: Queryable, guesses: readonly TakenGuess[]): Promise<void> => {
  for (const guess of inLockOrder(guesses)) await undoGuess(tx, guess);
};

/** An attempt that only its own count limits. */
const beginAlone = async ({ db }: Pick<Context, 'db'>, subject: Buffer): Promise<Attempt> => {
  const own = { subject, ...ownLimit };
  const taken = await db.transaction(tx => take(tx, [own]));
  const { failures } = takenOf(taken, own);
  return {
    failures,
    isPastFree: failures >= own.free,
    rank: 'known',
    unnoticed: null,
    markCorrect: tx => clearGuesses(tx, own.subject),
    undo: tx => undoAll(tx, taken),
  };
};

/** The addresses that a provider gives out together: an IPv4 /24 or an IPv6 /48. */
const blockOf = (addressKey: string): string => addressKey.split(addressKey.includes(':') ? ':' : '.', 3).join(':');

/** A device that the person never used: its address, its block and the person's budget limit it. */
const beginUnknown = async (
  { db }: Pick<Context, 'db'>,
  { email, addressKey }: { readonly email: string; readonly addressKey: string },
): Promise<Attempt> => {
  const own = { subject: subjectOf('email and address', email, addressKey), ...ownLimit };
  const address = { subject: subjectOf('address', addressKey), ...addressLimit };
  const block = { subject: subjectOf('email and block', email, blockOf(addressKey)), ...blockLimit };
  const budget: GuessBudget = { subject: subjectOf('email', email), drainPerMinute };
  // Thrown inside the transaction: a refused attempt counts nowhere.
  const { taken, failedBefore, found } = await db.transaction(async tx => {
    const counted = await take(tx, [own, address, block]);
    const before = takenOf(counted, own).failures - 1 + Math.floor((takenOf(counted, block).failures - 1) / blockShare);
    const ceiling = ceilings[Math.min(before, ceilings.length - 1)]!;
    const tried = await takeTry(tx, budget, { ceiling, isNewAddress: before === 0 });
    if (tried === null) throw crowded();
    return { taken: counted, failedBefore: before, found: tried };
  });
  const undoBudget = (tx: Queryable): Promise<void> => undoTry(tx, budget.subject, failedBefore === 0);
  const { failures } = takenOf(taken, own);
  return {
    failures,
    isPastFree: failures >= own.free,
    rank: takenOf(taken, address).failures === 1 && failedBefore === 0 ? 'new' : 'failed',
    unnoticed: found.isUnnoticed && found.addresses >= manyAddresses ? budget.subject : null,
    async markCorrect(tx) {
      for (const guess of inLockOrder(taken)) {
        await (guess.subject.equals(own.subject) ? clearGuesses(tx, guess.subject) : undoGuess(tx, guess));
      }
      await undoBudget(tx);
    },
    async undo(tx) {
      await undoAll(tx, taken);
      await undoBudget(tx);
    },
  };
};

/** A device that signed this person in before has a count of its own, so that guesses elsewhere cannot lock it out. */
export const beginSignIn = (
  context: Pick<Context, 'db'>,
  { email, addressKey, deviceId }: { email: string; addressKey: string; deviceId: string | null },
): Promise<Attempt> =>
  deviceId === null
    ? beginUnknown(context, { email, addressKey })
    : beginAlone(context, subjectOf('email and device', email, deviceId));

/**
 * A code from a device that the person never used, beside the right password. A right one takes only itself back: it must
 * not give new tries to somebody else who has the password.
 */
export const beginCode = async ({ db }: Pick<Context, 'db'>, { id }: { readonly id: string }): Promise<Attempt> => {
  const own = { subject: subjectOf('code', id), ...codeLimit };
  const taken = await db.transaction(tx => take(tx, [own], codesLocked));
  const { failures } = takenOf(taken, own);
  const undo: Attempt['undo'] = tx => undoAll(tx, taken);
  return { failures, isPastFree: failures >= own.free, rank: 'known', unnoticed: null, markCorrect: undo, undo };
};

/** Counted whether or not the address has a sign-in. */
export const beginRecovery = async (
  { db }: Pick<Context, 'db'>,
  { email, addressKey }: { email: string; addressKey: string },
): Promise<void> => {
  const person = { subject: subjectOf('recovery of email', email), ...ownLimit };
  const address = { subject: subjectOf('recovery from address', addressKey), ...addressLimit };
  await db.transaction(tx => take(tx, [person, address], askedTooOften));
};

/** Only someone with a session of this person can raise the count. */
export const beginProof = (context: Pick<Context, 'db'>, { personId }: { personId: string }): Promise<Attempt> =>
  beginAlone(context, subjectOf('proof', personId));
