import { isDust } from './dust.ts';
import type { Facts } from './facts.ts';
import { tally } from './tally.ts';

/** Why the payment cannot be canceled now; null if it can. */
export const cancelRefusal = (facts: Facts): string | null => {
  const { status } = facts.history;
  if (status !== 'pending') return `The payment is ${status}; only a pending payment can be canceled.`;
  if (facts.actions.accepted !== null) return 'You accepted a sum for this payment. It cannot be canceled.';
  if (tally(facts).anythingSeen) return 'Funds for this payment have already been seen. It cannot be canceled.';
  return null;
};

/** Why the received sum cannot be accepted now; null if it can. */
export const resolveRefusal = (facts: Facts): string | null => {
  const { status } = facts.history;
  const { received, counted, target } = tally(facts);
  if (status === 'completed') return 'The payment is already completed.';
  if (received === 0n) return 'No funds have been received, so there is nothing to accept.';
  if (isDust(facts.terms, received)) return 'Only a negligible sum has been received, so there is nothing to accept.';
  const covered = status !== 'canceled' && counted >= target;
  return covered || status === 'confirming' ? 'The payment has received enough funds and is being confirmed.' : null;
};
