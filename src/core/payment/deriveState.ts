import { isDust } from './dust.ts';
import type { Facts } from './facts.ts';
import type { PaymentException, PaymentState, PaymentStatus } from './states.ts';
import { deadlineOf, type Tally, toleranceOf } from './tally.ts';

/** How long unconfirmed funds that would cover the target hold expiry back. */
export const holdBackMs = 24 * 60 * 60 * 1000;

/**
 * When a payment that stays pending expires. Only funds that arrived in time hold it back: late funds do not reopen a
 * payment whose time is over.
 */
const expiryOf = (facts: Facts, sums: Tally): number => {
  const held = sums.inTime + sums.unconfirmedInTime >= sums.target;
  return deadlineOf(facts) + (held ? holdBackMs : 0);
};

/** How long expiry waits for the balances of the address. */
export const unreadHoldMs = 60 * 60 * 1000;

/** Whether the balances of the address, read after the payment's time, agree with its transfers. */
export const isAddressRead = (facts: Facts): boolean => (facts.chain.addressReadAt ?? 0) >= deadlineOf(facts);

/**
 * A payment expires only once its chain has been read up to its expiry: an unread block may hold funds that are in
 * time. A node may have left funds out, so the balances of the address must agree too, or an hour must pass.
 */
const isTimeOver = (facts: Facts, sums: Tally, now: number): boolean => {
  const { caughtUpAt } = facts.chain;
  const hold = isAddressRead(facts) ? 0 : unreadHoldMs;
  return caughtUpAt !== null && Math.min(now, caughtUpAt) >= expiryOf(facts, sums) + hold;
};

const statusOf = (facts: Facts, sums: Tally, now: number): PaymentStatus => {
  const { actions, history } = facts;
  const canceled = history.status === 'canceled' || (history.status === 'pending' && actions.canceledAt !== null);
  if (canceled && actions.accepted === null) return 'canceled';
  if (sums.countedFinal > 0n && sums.countedFinal >= sums.target) return 'completed';
  if (sums.counted > 0n && sums.counted >= sums.target) return 'confirming';
  if (history.completedAt !== null) return 'reversed';
  // Without enough funds, no legal edge leaves these two statuses.
  if (history.status === 'canceled' || history.status === 'expired') return history.status;
  return isTimeOver(facts, sums, now) ? 'expired' : 'pending';
};

/**
 * Funds are late if the ones in time do not reach the target. Late dust makes a payment late only if it completes the
 * amount.
 */
const isLate = ({ terms }: Facts, sums: Tally): boolean => {
  if (sums.late === 0n || sums.inTime >= sums.target) return false;
  return !isDust(terms, sums.late) || sums.received >= terms.amount - toleranceOf(terms);
};

/**
 * `reorged` lasts from the reversal to the next completion. A second transfer long after a timely one is an overpayment.
 * On a canceled payment all funds are late. While the whole sum is dust, nothing has happened.
 */
const exceptionOf = (facts: Facts, sums: Tally, status: PaymentStatus): PaymentException | null => {
  const { terms, actions, history } = facts;
  const tolerance = toleranceOf(terms);
  if (status === 'reversed' || (status === 'confirming' && history.completedAt !== null)) return 'reorged';
  if (sums.received === 0n || isDust(terms, sums.received)) return null;
  if (actions.canceledAt !== null) return 'late';
  if (isLate(facts, sums)) return 'late';
  const excess = sums.received - terms.amount;
  if (excess > tolerance && !isDust(terms, excess)) return 'overpaid';
  if (sums.received < terms.amount - tolerance) return 'underpaid';
  return null;
};

/** The state that the facts imply. `decide` finds the legal path to it. */
export const deriveState = (facts: Facts, sums: Tally, now: number): PaymentState => {
  const status = statusOf(facts, sums, now);
  return { status, exception: exceptionOf(facts, sums, status) };
};

/** Time only ends `pending`: whether funds are late depends on when they arrived, not on when they are evaluated. */
export const wakeAtOf = (facts: Facts, sums: Tally, status: PaymentStatus): number | null =>
  status === 'pending' ? expiryOf(facts, sums) : null;
