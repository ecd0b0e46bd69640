import type { Facts } from './facts.ts';
import type { PaymentException, PaymentState, PaymentStatus } from './states.ts';
import { deadlineOf, type Tally, toleranceOf } from './tally.ts';

/** How long unconfirmed funds that would cover the amount hold expiry back. */
export const holdBackMs = 24 * 60 * 60 * 1000;

/**
 * When a payment that goes on waiting expires, once the clock and the chain have both come this far. Only funds in time
 * hold it back: late ones, whatever they add up to, do not bring back a time that is over.
 */
const expiryOf = (facts: Facts, sums: Tally): number => {
  const held = sums.inTime + sums.unconfirmedInTime >= sums.target;
  return deadlineOf(facts) + (held ? holdBackMs : 0);
};

/** Time passes for a payment only as far as its chain has been read: funds in an unread block may be in time. */
const isTimeOver = (facts: Facts, sums: Tally, now: number): boolean => {
  const { caughtUpAt } = facts.chain;
  return caughtUpAt !== null && Math.min(now, caughtUpAt) >= expiryOf(facts, sums);
};

const statusOf = (facts: Facts, sums: Tally, now: number): PaymentStatus => {
  const { actions, history } = facts;
  const canceled = history.status === 'canceled' || (history.status === 'pending' && actions.canceledAt !== null);
  if (canceled && actions.accepted === null) return 'canceled';
  if (sums.countedFinal > 0n && sums.countedFinal >= sums.target) return 'completed';
  if (sums.counted > 0n && sums.counted >= sums.target) return 'confirming';
  if (history.completedAt !== null) return 'reversed';
  // Without funds to cover it, a payment leaves neither of these: no edge leads back from them.
  if (history.status === 'canceled' || history.status === 'expired') return history.status;
  return isTimeOver(facts, sums, now) ? 'expired' : 'pending';
};

/**
 * Reorged lasts from the reversal to the next completion. Funds are late when those in time do not reach the target,
 * so a second payment long after a timely one is an overpayment; on a canceled payment all funds are late.
 */
const exceptionOf = (facts: Facts, sums: Tally, status: PaymentStatus): PaymentException | null => {
  const { terms, actions, history } = facts;
  const tolerance = toleranceOf(terms);
  if (status === 'reversed' || (status === 'confirming' && history.completedAt !== null)) return 'reorged';
  if (sums.received === 0n) return null;
  if (actions.canceledAt !== null) return 'late';
  if (sums.late > 0n && sums.inTime < sums.target) return 'late';
  if (sums.received > terms.amount + tolerance) return 'overpaid';
  if (sums.received < terms.amount - tolerance) return 'underpaid';
  return null;
};

/** Where the payment stands by the facts, however it stood before. */
export const standing = (facts: Facts, sums: Tally, now: number): PaymentState => {
  const status = statusOf(facts, sums, now);
  return { status, exception: exceptionOf(facts, sums, status) };
};

/** Only waiting ends by time: the lateness of funds is measured when they arrive, not when they are looked at. */
export const wakeAtOf = (facts: Facts, sums: Tally, status: PaymentStatus): number | null =>
  status === 'pending' ? expiryOf(facts, sums) : null;
