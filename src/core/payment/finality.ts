import type { BlockRef, ConfirmationRule, Frontier, Heights, Terms } from './facts.ts';

/** Finality depends on a block's height only. */
type BlockPosition = Pick<BlockRef, 'number'>;

/** The rule for this sum. Received funds count too, so that a large overpayment does not complete at the small tier. */
export const ruleFor = (terms: Pick<Terms, 'amount' | 'tiers'>, received: bigint): ConfirmationRule => {
  const sum = received > terms.amount ? received : terms.amount;
  const ascending = [...terms.tiers].sort((a, b) => (a.atLeast < b.atLeast ? -1 : 1));
  return (ascending.findLast(tier => tier.atLeast <= sum) ?? ascending[0] ?? terms.tiers[0]).rule;
};

/** A transfer in the last processed block has one confirmation. */
export const confirmationsOf = (block: BlockPosition | null, chain: Heights): number =>
  block === null || chain.latest === null ? 0 : Math.max(0, chain.latest - block.number + 1);

/** A height that the chain must reach. */
export type AwaitedHeight = { readonly frontier: Frontier; readonly number: number };

const conditionsOf = (block: BlockPosition, rule: ConfirmationRule): readonly AwaitedHeight[] => {
  const byDepth: AwaitedHeight = { frontier: 'latest', number: block.number + Math.max(1, rule.depth ?? 1) - 1 };
  const byTag: readonly AwaitedHeight[] = rule.kind === 'depth' ? [] : [{ frontier: rule.kind, number: block.number }];
  return [byDepth, ...byTag, { frontier: 'agreed', number: block.number }];
};

/**
 * The first condition that keeps the block from being final; null once it is final. A lower block never meets a
 * condition later than a higher one.
 */
export const awaitedFor = (block: BlockPosition, rule: ConfirmationRule, chain: Heights): AwaitedHeight | null =>
  conditionsOf(block, rule).find(({ frontier, number }) => (chain[frontier] ?? -1) < number) ?? null;

export const isFinal = (block: BlockPosition, rule: ConfirmationRule, chain: Heights): boolean =>
  awaitedFor(block, rule, chain) === null;

export type Confirmations = {
  readonly current: number;
  readonly required: number | null;
  readonly rule: ConfirmationRule['kind'];
};

/** Blocks go on coming after the last one that was needed, and nobody wants to read "39 of 2". */
export const shownConfirmations = ({ current, required }: Pick<Confirmations, 'current' | 'required'>): number =>
  required === null ? current : Math.min(current, required);

/** The block in which these transfers, the oldest first, reach the target; null while they miss it. */
export const coveringBlock = (
  target: bigint,
  transfers: readonly { readonly block: BlockRef; readonly amount: bigint }[],
): BlockRef | null => {
  const deepestFirst = [...transfers].sort((a, b) => a.block.number - b.block.number);
  let sum = 0n;
  for (const { block, amount } of deepestFirst) {
    sum += amount;
    if (sum >= target) return block;
  }
  return null;
};

/** `current` is 0 while no block covers the amount. */
export const confirmationsSince = (
  covering: BlockPosition | null,
  rule: ConfirmationRule,
  chain: Heights,
): Confirmations => ({
  current: confirmationsOf(covering, chain),
  required: rule.kind === 'depth' ? rule.depth : null,
  rule: rule.kind,
});
