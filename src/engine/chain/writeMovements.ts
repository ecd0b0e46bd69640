import { insertMovements, type PlacedMovements } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

/**
 * Writes the movements of blocks to addresses of payments, and those to addresses whose payments a restore lost. Returns how many
 * were not on record.
 */
export const writeMovements = async (
  { log }: Pick<Context, 'log'>,
  tx: Queryable,
  caip2: string,
  blocks: readonly PlacedMovements[],
): Promise<number> => {
  const { written, unclaimed } = await insertMovements(tx, caip2, blocks);
  if (unclaimed.length > 0)
    log.error({ caip2, addresses: unclaimed }, 'funds arrived for payments that a restore lost');
  return written + unclaimed.length;
};
