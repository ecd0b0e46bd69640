import { FlorinError } from '../../core/errors.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import { secondsToNext, takeMessage } from '../audit/mailBudgets.ts';
import type { Context } from '../context.ts';
import type { SignedInPerson } from './sessions.ts';

/** Sends a test message to the person at once, past the outbox, so that the answer says what the server said. */
export const sendTestMail = async (context: Context, person: SignedInPerson): Promise<string | null> => {
  if (context.sendMail === null)
    throw new FlorinError('conflict', 'E-mail is not set up. Ask whoever runs this Florin.');
  if (!(await takeMessage(context.db, 'test', person.personId))) {
    const seconds = secondsToNext('test');
    throw new FlorinError(
      'rate_limit_exceeded',
      `You sent many test messages. Try again in ${seconds} s.`,
      undefined,
      seconds,
    );
  }
  const account = await readAccount(context.db, person.accountId);
  const notice = { kind: 'test', accountName: account?.name ?? '' } as const;
  return (await context.sendMail({ to: person.email, notice }))?.reason ?? null;
};
