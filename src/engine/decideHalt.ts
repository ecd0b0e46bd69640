import { FlorinError } from '../core/errors.ts';
import { keptBlocksNear } from '../storage/blocks.ts';
import { readChains, resumeChain } from '../storage/chains.ts';
import type { Database } from '../storage/database.ts';

/**
 * The operator's word after a halt: go on as before, or undo the blocks above a height first. Whoever reads the chain
 * carries it out.
 */
export const decideHalt = async (db: Database, caip2: string, rollbackTo: number | null): Promise<void> => {
  const [chain] = await readChains(db, [caip2]);
  if (!chain) throw new FlorinError('not_found', `No chain ${caip2} has been read.`);
  if (chain.haltReason === null) throw new FlorinError('conflict', `${caip2} is not halted.`);
  if (rollbackTo !== null) {
    const near = await keptBlocksNear(db, caip2, rollbackTo);
    if (!near.includes(rollbackTo)) {
      const known = near.length === 0 ? 'none is' : `nearest: ${near.join(', ')}`;
      throw new FlorinError('conflict', `Block ${rollbackTo} of ${caip2} is not kept (${known}).`);
    }
  }
  if (!(await resumeChain(db, caip2, rollbackTo))) throw new FlorinError('conflict', `${caip2} is not halted.`);
};
