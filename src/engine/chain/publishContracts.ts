import type { Lease } from '../../storage/chain/chains.ts';
import { neverRead, oldestOpenPayment, publishContracts } from '../../storage/chain/readContracts.ts';
import { insertRescan } from '../../storage/chain/rescans.ts';
import { isUnavailable } from '../../storage/database.ts';
import type { Context } from '../context.ts';
import { lockHeldChain } from './heldChain.ts';

/**
 * Since when payments wait for contracts that were never read: null if none does, 'unknown' if the search was too much
 * for the database. It runs before the chain is locked: among millions of open payments it takes seconds.
 */
const waitingSince = async (
  { db, log }: Context,
  caip2: string,
  contracts: readonly string[],
): Promise<Date | null | 'unknown'> => {
  const unread = await neverRead(db, caip2, contracts);
  if (unread.length === 0) return null;
  try {
    return await oldestOpenPayment(db, caip2, unread);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn(
      { caip2, err: error },
      'the oldest payment in a new token was not found: its chain is read from the start',
    );
    return 'unknown';
  }
};

/**
 * Publishes which contracts this process reads. Payments are created only in these. Blocks that were read without a
 * contract are read again: from the last block that was read with it or, if there is none, from the creation of the
 * oldest payment that waits for it.
 */
export const publishReadContracts = async (
  context: Context,
  lease: Lease,
  contracts: readonly string[],
): Promise<void> => {
  const since = await waitingSince(context, lease.caip2, contracts);
  await context.db.transaction(async tx => {
    const chain = await lockHeldChain(tx, lease);
    const { caip2, latestNumber, startNumber } = chain;
    const added = await publishContracts(tx, caip2, contracts);
    if (latestNumber === null) return;
    const gaps = added.flatMap(({ readTo }) => (readTo === null ? [] : [readTo + 1]));
    const common = { caip2, to: latestNumber, address: null, reason: 'a token was added' };
    const from = Math.min(...gaps);
    if (gaps.length > 0 && from <= latestNumber) await insertRescan(tx, { ...common, from });
    if (since !== null) await insertRescan(tx, { ...common, from: since === 'unknown' ? (startNumber ?? 0) : since });
  });
};
