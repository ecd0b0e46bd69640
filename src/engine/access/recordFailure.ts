import { noticeGuesses } from '../../storage/access/guessBudgets.ts';
import type { PersonRow } from '../../storage/access/people.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Deed } from '../audit/acting.ts';
import { systemActor } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import { inEveryAccount } from './inEveryAccount.ts';
import { type Attempt, manyAddresses } from './lockOut.ts';

/** What the audit log says once while guesses at a person come from many addresses. Null if it says so already. */
const noticed = async (tx: Queryable, person: PersonRow, { unnoticed }: Attempt): Promise<Deed | null> => {
  const addresses = unnoticed && (await noticeGuesses(tx, unnoticed, manyAddresses));
  if (addresses === null) return null;
  return { action: 'person.guesses_noticed', subject: person.id, detail: { email: person.email, addresses } };
};

/**
 * Records a failure that causes a lock-out, and that guesses come from many addresses. Single failures are not recorded,
 * because anybody can make any number of them. The response does not wait for this, or its timing would reveal which
 * e-mail addresses exist.
 */
export const recordFailure = (
  context: Context,
  person: PersonRow | null,
  attempt: Attempt,
  address: string,
  what: 'password' | 'code',
): void => {
  if (!person || !(attempt.isPastFree || attempt.unnoticed)) return;
  const detail = { email: person.email, failures: attempt.failures, what };
  const lockedOut: Deed | null = attempt.isPastFree
    ? { action: 'person.locked_out', subject: person.id, detail }
    : null;
  const record = async (): Promise<void> => {
    const guessed = await perform(context, { scope: null, actor: systemActor, address }, null, async tx => {
      const guesses = await noticed(tx, person, attempt);
      const deeds = [lockedOut, guesses].filter(each => each !== null);
      const followed = await Promise.all(deeds.map(each => inEveryAccount(tx, person.id, each)));
      return { value: guesses, deed: null, followed: followed.flat() };
    });
    if (!guessed) return;
    const { addresses } = guessed.detail;
    context.log.warn({ personId: person.id, addresses }, 'somebody guesses a password from many addresses');
  };
  record().catch(error => context.log.error({ err: error }, 'failed sign-ins could not be recorded'));
};
