import { insertTransfers, type PlacedMovement } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import { insertUnclaimed } from '../../storage/settlement/unclaimed.ts';
import type { Context } from '../context.ts';

/**
 * Writes movements to addresses of payments, and those to addresses whose payments a restore lost. Returns how many
 * were not on record.
 */
export const writeMovements = async (
  { log }: Pick<Context, 'log'>,
  tx: Queryable,
  caip2: string,
  movements: readonly PlacedMovement[],
): Promise<number> => {
  const found = await insertTransfers(tx, caip2, movements);
  const unclaimed = await insertUnclaimed(tx, caip2, movements);
  if (unclaimed.length > 0)
    log.error({ caip2, addresses: unclaimed }, 'funds arrived for payments that a restore lost');
  return found + unclaimed.length;
};
