import { createHash } from 'node:crypto';
import { takeTry } from '../../storage/access/guessBudgets.ts';
import type { Queryable } from '../../storage/database.ts';

/**
 * Mails that one session could cause without end, for each account. They are counted like guesses, in a budget that forgets
 * them at an even pace: so many at once, and at most twice as many in the time in which a full budget empties.
 */
const budgets = {
  invitation: { atOnce: 50, perMinute: 50 / 1_440 },
  webhook: { atOnce: 10, perMinute: 10 / 60 },
} as const;

export type BoundedMail = keyof typeof budgets;

/** Counts a mail, in the transaction that queues it. False if it must not be sent. */
export const takeMail = async (tx: Queryable, sort: BoundedMail, accountId: string): Promise<boolean> => {
  const { atOnce, perMinute } = budgets[sort];
  const subject = createHash('sha256').update(`mails\0${sort}\0${accountId}`).digest();
  const budget = { subject, drainPerMinute: perMinute };
  return (await takeTry(tx, budget, { ceiling: atOnce, isNewAddress: false })) !== null;
};

/** After so long, a full budget has room for one more. */
export const secondsToNextMail = (sort: BoundedMail): number => Math.ceil(60 / budgets[sort].perMinute);
