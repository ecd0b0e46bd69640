import type { Block } from '../../core/chain.ts';
import { storedHashes } from '../../storage/chain/blocks.ts';
import type { ChainRow } from '../../storage/chain/chains.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

/** Blocks below this depth may have been deleted because they were empty. */
const keptBlocks = 256;

/**
 * Those blocks that are ours: stored at their height, or too deep to be stored, where no reorg reaches. Throws if a stored
 * one was changed in the database.
 */
export const onlyOurs = async <B extends Pick<Block, 'number' | 'hash'>>(
  { vault }: Pick<Context, 'vault'>,
  tx: Queryable,
  { caip2, latestNumber }: ChainRow,
  blocks: readonly B[],
): Promise<B[]> => {
  if (blocks.length === 0) return [];
  const { canonical, all } = await storedHashes(tx, vault, caip2, blocks);
  return blocks.filter(({ number, hash }) => {
    const stored = canonical.get(number);
    if (stored !== undefined) return stored === hash;
    // One that is there and not canonical was called orphaned by somebody: coin in it seems to be missing, and is not.
    return number < latestNumber! - keptBlocks && !all.has(hash);
  });
};
