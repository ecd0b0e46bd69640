import type { Block } from '../../core/chain.ts';
import { storedBlock } from '../../storage/chain/blocks.ts';
import type { ChainRow } from '../../storage/chain/chains.ts';
import type { Queryable } from '../../storage/database.ts';

/** Blocks below this depth may have been deleted because they were empty. */
const keptBlocks = 256;

/** Whether a block is ours: the one stored at its height, or one too deep to be stored, which no reorg reaches. */
export const isOurs = async (
  tx: Queryable,
  { caip2, latestNumber }: ChainRow,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<boolean> => {
  const stored = await storedBlock(tx, caip2, number);
  return stored === null ? number < latestNumber! - keptBlocks : stored.hash === hash;
};
