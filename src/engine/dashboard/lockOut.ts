import { createHash } from 'node:crypto';
import { FlorinError } from '../../core/errors.ts';
import {
  clearGuesses,
  type Guess,
  type TakenGuess,
  takeGuesses,
  undoGuess,
} from '../../storage/dashboard/signInFailures.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

const hourSeconds = 3_600;
/** Of one person from one place, or in one session. */
const few = { free: 5, mostSeconds: hourSeconds } as const;
/** Of one place: several people may share an address. */
const some = { free: 20, mostSeconds: hourSeconds } as const;
/** Of one person from everywhere: whoever wants to keep somebody out can raise it, so the wait stays short. */
const many = { free: 100, mostSeconds: 15 } as const;

/** A guess at somebody's password or code, counted before it is judged. */
export type Attempt = {
  /** So many failures that the next has to wait: worth a line in the audit log. */
  readonly isPastFree: boolean;
  readonly failures: number;
  /** It was right: what is the person's own starts anew, and what others share is as it was before. */
  forgive(tx: Queryable): Promise<void>;
  /** It was neither right nor wrong: nothing is counted, and nothing is forgotten either. */
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

/** Counts, or refuses: whatever is sent while it is locked is not even looked at, right or wrong. */
const begin = async ({ db }: Pick<Context, 'db'>, own: Guess, shared: readonly Guess[]): Promise<Attempt> => {
  const outcome = await db.transaction(tx => takeGuesses(tx, [own, ...shared]));
  if ('locked' in outcome) throw locked(outcome.locked);
  const of = ({ subject }: Guess): TakenGuess => outcome.taken.find(each => each.subject.equals(subject))!;
  const undoAll = async (tx: Queryable, guesses: readonly Guess[]): Promise<void> => {
    for (const guess of guesses) await undoGuess(tx, of(guess));
  };
  return {
    failures: of(own).failures,
    isPastFree: of(own).failures >= own.free,
    async forgive(tx) {
      await clearGuesses(tx, own.subject);
      await undoAll(tx, shared);
    },
    undo: tx => undoAll(tx, [own, ...shared]),
  };
};

/** Counted by person and place together: who guesses from elsewhere does not keep out whom they guess at. */
export const beginSignIn = (
  context: Pick<Context, 'db'>,
  { email, addressKey }: { email: string; addressKey: string },
): Promise<Attempt> =>
  begin(context, { subject: subjectOf('email and address', email, addressKey), ...few }, [
    { subject: subjectOf('address', addressKey), ...some },
    { subject: subjectOf('email', email), ...many },
  ]);

/** Only who has a session of this person can raise it. */
export const beginProof = (
  context: Pick<Context, 'db'>,
  { accountId, personId }: { accountId: string; personId: string },
): Promise<Attempt> => begin(context, { subject: subjectOf('proof', accountId, personId), ...few }, []);
