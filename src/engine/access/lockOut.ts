import { createHash } from 'node:crypto';
import { FlorinError } from '../../core/errors.ts';
import {
  clearGuesses,
  type Guess,
  type TakenGuess,
  takeGuesses,
  undoGuess,
} from '../../storage/access/signInFailures.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

const hourSeconds = 3_600;
/** Sign-ins of one person from one address, or proofs of one person. */
const ownLimit = { free: 5, mostSeconds: hourSeconds } as const;
/** Sign-ins from one address, which several people may share. */
const addressLimit = { free: 20, mostSeconds: hourSeconds } as const;
/** Sign-ins of one person from all addresses. An attacker can raise this count, so the wait stays short. */
const personLimit = { free: 100, mostSeconds: 15 } as const;

/** A password or code attempt, counted before it is checked. */
export type Attempt = {
  /** Whether the next attempt must wait. This is worth a row in the audit log. */
  readonly isPastFree: boolean;
  readonly failures: number;
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

/** Counts an attempt, or refuses it. While locked, an attempt is not checked, right or wrong. */
const begin = async ({ db }: Pick<Context, 'db'>, own: Guess, shared: readonly Guess[]): Promise<Attempt> => {
  const outcome = await db.transaction(tx => takeGuesses(tx, [own, ...shared]));
  if ('locked' in outcome) throw locked(outcome.locked);
  const takenGuess = ({ subject }: Guess): TakenGuess => outcome.taken.find(each => each.subject.equals(subject))!;
  const undoAll = async (tx: Queryable, guesses: readonly Guess[]): Promise<void> => {
    for (const guess of guesses) await undoGuess(tx, takenGuess(guess));
  };
  return {
    failures: takenGuess(own).failures,
    isPastFree: takenGuess(own).failures >= own.free,
    async markCorrect(tx) {
      await clearGuesses(tx, own.subject);
      await undoAll(tx, shared);
    },
    undo: tx => undoAll(tx, [own, ...shared]),
  };
};

/** Counted by person and address together: an attacker at another address does not lock the person out. */
export const beginSignIn = (
  context: Pick<Context, 'db'>,
  { email, addressKey }: { email: string; addressKey: string },
): Promise<Attempt> =>
  begin(context, { subject: subjectOf('email and address', email, addressKey), ...ownLimit }, [
    { subject: subjectOf('address', addressKey), ...addressLimit },
    { subject: subjectOf('email', email), ...personLimit },
  ]);

/** Only someone with a session of this person can raise the count. */
export const beginProof = (context: Pick<Context, 'db'>, { personId }: { personId: string }): Promise<Attempt> =>
  begin(context, { subject: subjectOf('proof', personId), ...ownLimit }, []);
