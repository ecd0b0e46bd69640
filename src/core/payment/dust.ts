import type { Terms } from './facts.ts';

/**
 * Whether a sum is too small to matter: below the frozen floor and below 1 % of the amount. Anybody can send such a sum
 * to any address. It counts as received, but it is no exception, sends no event and prevents no cancellation.
 */
export const isDust = ({ amount, dustFloor }: Pick<Terms, 'amount' | 'dustFloor'>, sum: bigint): boolean =>
  sum < dustFloor && sum * 100n < amount;
