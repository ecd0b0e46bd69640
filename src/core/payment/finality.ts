import type { BlockRef, ChainFacts, ConfirmationRule, Terms } from './facts.ts';

/** The rule for this much money. Received counts too, so that a large overpayment does not finish at the small tier. */
export const ruleFor = (terms: Pick<Terms, 'amount' | 'tiers'>, received: bigint): ConfirmationRule => {
  const sum = received > terms.amount ? received : terms.amount;
  const ascending = [...terms.tiers].sort((a, b) => (a.atLeast < b.atLeast ? -1 : 1));
  return (ascending.findLast(tier => tier.atLeast <= sum) ?? ascending[0] ?? terms.tiers[0]).rule;
};

/** A transfer in the last processed block has one confirmation. */
export const confirmationsOf = (block: BlockRef | null, chain: ChainFacts): number =>
  block === null || chain.latest === null ? 0 : Math.max(0, chain.latest - block.number + 1);

export const isFinal = (block: BlockRef, rule: ConfirmationRule, chain: ChainFacts): boolean => {
  if (rule.depth !== undefined && confirmationsOf(block, chain) < rule.depth) return false;
  if (rule.kind === 'depth') return confirmationsOf(block, chain) > 0;
  const tag = rule.kind === 'finalized' ? chain.finalized : chain.safe;
  return tag !== null && block.number <= tag;
};

export type Confirmations = {
  readonly current: number;
  readonly required: number | null;
  readonly rule: ConfirmationRule['kind'];
};

/** `blocks` are those of the transfers that count, with their amounts; `current` is 0 while they miss the target. */
export const confirmationsToward = (
  target: bigint,
  blocks: readonly { readonly block: BlockRef; readonly amount: bigint }[],
  rule: ConfirmationRule,
  chain: ChainFacts,
): Confirmations => {
  const deepestFirst = [...blocks].sort((a, b) => a.block.number - b.block.number);
  let sum = 0n;
  let current = 0;
  for (const { block, amount } of deepestFirst) {
    sum += amount;
    if (sum < target) continue;
    current = confirmationsOf(block, chain);
    break;
  }
  return { current, required: rule.kind === 'depth' ? rule.depth : null, rule: rule.kind };
};
