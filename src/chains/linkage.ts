import type { Block } from '../core/chain.ts';

/** How a node's head relates to the last processed block. */
export type Link =
  /** Child of the last processed block. */
  | 'extends'
  /** The same block, a stored one below it, or one too old to compare. */
  | 'known'
  /** Higher, with blocks missing in between. */
  | 'gap'
  /** Another block at a processed height, or the child of one: proof of a reorg. */
  | 'fork';

/**
 * A lower head alone proves nothing, because a node may lag. Only another hash at a processed height does. `stored` is
 * the canonical block at the node's height; null above the cursor and below the oldest kept block.
 */
export const linkOf = (cursor: Block, stored: Block | null, head: Block): Link => {
  if (head.number > cursor.number + 1) return 'gap';
  if (head.number === cursor.number + 1) return head.parentHash === cursor.hash ? 'extends' : 'fork';
  const ours = head.number === cursor.number ? cursor : stored;
  if (ours === null) return 'known';
  return ours.hash === head.hash ? 'known' : 'fork';
};

/** Why the blocks do not follow `parent`, or null if they do. */
export const linkFault = (parent: Pick<Block, 'number' | 'hash'>, blocks: readonly Block[]): string | null => {
  let last = parent;
  for (const block of blocks) {
    if (block.number !== last.number + 1) return `block ${block.number} does not follow block ${last.number}`;
    if (block.parentHash !== last.hash) return `block ${block.number} is not the child of the block before it`;
    last = block;
  }
  return null;
};
