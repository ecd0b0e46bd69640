import type { ConfirmationRule, ConfirmationTier } from '../../core/payment/facts.ts';
import type { StoredTier } from '../../storage/payments/payments.ts';

const readRule = ({ kind, depth }: StoredTier): ConfirmationRule => {
  if (kind !== 'depth') return depth === null ? { kind } : { kind, depth };
  if (depth === null) throw new Error('a depth rule has no depth');
  return { kind, depth };
};

const readTier = (tier: StoredTier): ConfirmationTier => ({ atLeast: BigInt(tier.atLeast), rule: readRule(tier) });

/** Stored confirmation tiers as `core/payment` uses them. */
export const readTiers = (stored: readonly StoredTier[]): readonly [ConfirmationTier, ...ConfirmationTier[]] => {
  const [first, ...others] = stored;
  if (!first) throw new Error('a payment has no confirmation tiers');
  return [readTier(first), ...others.map(readTier)];
};
