import { createHash } from 'node:crypto';
import { FlorinError } from '../../core/errors.ts';
import { clearGuesses, type TakenGuess, takeGuesses, undoGuess } from '../../storage/dashboard/signInFailures.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

/** From which failure on each further try has to wait. Several people may share an address. */
const freeByEmail = 5;
const freeByAddress = 20;

/** A guess at somebody's password or code, counted before it is judged. */
export type Attempt = {
  /** So many failures that the next has to wait: worth a line in the audit log. */
  readonly isPastFree: boolean;
  readonly failures: number;
  /** It was right: the person starts anew, and the address is as it was before. */
  forgive(tx: Queryable): Promise<void>;
  /** It was neither right nor wrong: nothing is counted, and nothing is forgotten either. */
  undo(tx: Queryable): Promise<void>;
};

const subjectOf = (kind: 'email' | 'address', text: string): Buffer =>
  createHash('sha256').update(`${kind}\0${text}`).digest();

const locked = (seconds: number): FlorinError =>
  new FlorinError(
    'rate_limit_exceeded',
    `Too many wrong tries. Try again in ${seconds} s, or sign in with a passkey.`,
    undefined,
    seconds,
  );

/** Counts, or refuses: whatever is sent while it is locked is not even looked at, right or wrong. */
export const beginAttempt = async (
  context: Pick<Context, 'db'>,
  { email, addressKey }: { email: string; addressKey: string },
): Promise<Attempt> => {
  const person = { subject: subjectOf('email', email), free: freeByEmail };
  const place = { subject: subjectOf('address', addressKey), free: freeByAddress };
  const outcome = await context.db.transaction(tx => takeGuesses(tx, [person, place]));
  if ('locked' in outcome) throw locked(outcome.locked);
  const of = (subject: Buffer): TakenGuess => outcome.taken.find(each => each.subject.equals(subject))!;
  const { failures } = of(person.subject);
  return {
    failures,
    isPastFree: failures >= freeByEmail,
    async forgive(tx) {
      await clearGuesses(tx, person.subject);
      await undoGuess(tx, of(place.subject));
    },
    async undo(tx) {
      await undoGuess(tx, of(person.subject));
      await undoGuess(tx, of(place.subject));
    },
  };
};
