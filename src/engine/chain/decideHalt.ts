import { FlorinError } from '../../core/errors.ts';
import { keptBlocksNear } from '../../storage/chain/blocks.ts';
import { readChains, resumeChain } from '../../storage/chain/chains.ts';
import type { Database } from '../../storage/database.ts';

/**
 * Records the operator's decision after a halt: continue, or first roll back the blocks above a height. The process
 * that reads the chain carries it out.
 */
export const decideHalt = async (db: Database, caip2: string, rollbackTo: number | null): Promise<void> => {
  const [chain] = await readChains(db, [caip2]);
  if (!chain) throw new FlorinError('not_found', `Florin has not read a chain ${caip2}.`);
  if (chain.haltReason === null) throw new FlorinError('conflict', `${caip2} is not halted.`);
  if (rollbackTo !== null) {
    const near = await keptBlocksNear(db, caip2, rollbackTo);
    if (!near.includes(rollbackTo)) {
      const others = near.length === 0 ? 'No block is stored.' : `The nearest stored blocks are: ${near.join(', ')}.`;
      throw new FlorinError('conflict', `Block ${rollbackTo} of ${caip2} is not stored. ${others}`);
    }
  }
  if (!(await resumeChain(db, caip2, rollbackTo))) throw new FlorinError('conflict', `${caip2} is not halted.`);
};
