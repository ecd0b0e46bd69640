import type { Facts } from './facts.ts';
import { tally } from './tally.ts';

/** Why the payment cannot be canceled now, or null when it can. */
export const cancelRefusal = (facts: Facts): string | null => {
  const { status } = facts.history;
  if (status !== 'pending') return `The payment is ${status}; only a pending payment can be canceled.`;
  if (facts.actions.accepted !== null) return 'A sum was already accepted for this payment.';
  if (tally(facts).anythingSeen) return 'Funds for this payment have already been seen.';
  return null;
};

/** Why there is nothing to accept now, or null when the sum received can be accepted as payment. */
export const resolveRefusal = (facts: Facts): string | null => {
  const { status } = facts.history;
  const { received, counted, target } = tally(facts);
  if (status === 'completed') return 'The payment is already completed.';
  if (received === 0n) return 'No funds have been received that could be accepted.';
  const covered = status !== 'canceled' && counted >= target;
  return covered || status === 'confirming' ? 'The payment is already covered and is being confirmed.' : null;
};
