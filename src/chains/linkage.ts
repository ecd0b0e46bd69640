import type { Block } from '../core/chain.ts';

/** How a block of a node stands to the last processed one. */
export type Link =
  /** Its child. */
  | 'extends'
  /** The same block, or one below that is stored. */
  | 'known'
  /** Higher up: blocks in between are missing. */
  | 'gap'
  /** Another block at a height that is already processed, or the child of one: hash evidence of a reorg. */
  | 'fork';

/**
 * A head that is lower than ours is not evidence of anything: a node may lag. Only another hash at a processed height is.
 * `stored` is the canonical block kept at the node's height, null above the cursor and below what is kept.
 */
export const linkOf = (cursor: Block, stored: Block | null, head: Block): Link => {
  if (head.number > cursor.number + 1) return 'gap';
  if (head.number === cursor.number + 1) return head.parentHash === cursor.hash ? 'extends' : 'fork';
  const ours = head.number === cursor.number ? cursor : stored;
  if (ours === null) return 'known';
  return ours.hash === head.hash ? 'known' : 'fork';
};

/** What is wrong with a run of blocks that should follow on `parent`, or null. */
export const linkFault = (parent: Pick<Block, 'number' | 'hash'>, blocks: readonly Block[]): string | null => {
  let last = parent;
  for (const block of blocks) {
    if (block.number !== last.number + 1) return `block ${block.number} does not follow on ${last.number}`;
    if (block.parentHash !== last.hash) return `block ${block.number} is not the child of the block before it`;
    last = block;
  }
  return null;
};
