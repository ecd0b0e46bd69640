import { createHash } from 'node:crypto';
import { takeTry } from '../../storage/access/guessBudgets.ts';
import type { Queryable } from '../../storage/database.ts';

const hour = 60;
const day = 24 * hour;

/**
 * Messages that somebody could cause without end. They are counted like guesses, in a budget that forgets them at an even
 * pace: so many at once, and at most twice as many in the time in which a full budget empties.
 */
const budgets = {
  /** Wallets, owners and sign-ins. Beyond it they wait behind other mails: they are always sent. */
  urgent: { atOnce: 30, perMinute: 30 / hour },
  /** Keys, secrets and reviews. */
  other: { atOnce: 20, perMinute: 20 / hour },
  webhook: { atOnce: 10, perMinute: 10 / hour },
  invitation: { atOnce: 50, perMinute: 50 / day },
  /** Invitations to one address, whoever sends them. */
  invited: { atOnce: 5, perMinute: 5 / day },
  test: { atOnce: 5, perMinute: 10 / hour },
  farewell: { atOnce: 5, perMinute: 5 / day },
} as const;

export type Budget = keyof typeof budgets;

/** Counts a message of an account, a person or an address, in the transaction that queues it. False if it is one too many. */
export const takeMessage = async (tx: Queryable, sort: Budget, ...of: readonly string[]): Promise<boolean> => {
  const { atOnce, perMinute } = budgets[sort];
  const subject = createHash('sha256')
    .update(['mails', sort, ...of].join('\0'))
    .digest();
  const budget = { subject, drainPerMinute: perMinute };
  return (await takeTry(tx, budget, { ceiling: atOnce, isNewAddress: false })) !== null;
};

/** After so long, a full budget has room for one more. */
export const secondsToNext = (sort: Budget): number => Math.ceil(60 / budgets[sort].perMinute);
