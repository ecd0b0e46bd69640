import { insertMovements, type PlacedMovements } from '../../storage/chain/movements.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';

/** They stay as they are, and payments with them are not decided. */
export const forgedFound = 'transfers or forwards were changed in the database: run florin doctor';

/**
 * Writes the movements of blocks to addresses of payments, and those to addresses whose payments a restore lost. Returns how many
 * were not on record.
 */
export const writeMovements = async (
  { log, vault, clock }: Pick<Context, 'log' | 'vault' | 'clock'>,
  tx: Queryable,
  caip2: string,
  blocks: readonly PlacedMovements[],
): Promise<number> => {
  const at = { caip2, nowMs: clock.nowMs() };
  const { written, unclaimed, forged } = await insertMovements(tx, vault, at, blocks);
  if (forged.length > 0) log.error({ forged: 'movements', caip2, keys: forged }, forgedFound);
  if (unclaimed.length > 0)
    log.error({ caip2, addresses: unclaimed }, 'funds arrived for payments that a restore lost');
  return written + unclaimed.length;
};
