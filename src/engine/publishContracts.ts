import { type Lease, lockChain } from '../storage/chains.ts';
import { oldestOpenPayment, publishContracts } from '../storage/readContracts.ts';
import { insertRescan } from '../storage/rescans.ts';
import { LeaseLost } from './applyBlocks.ts';
import type { Context } from './context.ts';

/**
 * Publishes which contracts this process reads. Payments are created only in these. Blocks that were read without a
 * contract are read again: from the last block that was read with it or, if there is none, from the creation of the
 * oldest payment that waits for it.
 */
export const publishReadContracts = (context: Context, lease: Lease, contracts: readonly string[]): Promise<void> =>
  context.db.transaction(async tx => {
    const chain = await lockChain(tx, lease);
    if (!chain) throw new LeaseLost('another process has taken the lease of the chain');
    const { caip2, latestNumber } = chain;
    const added = await publishContracts(tx, caip2, contracts);
    if (latestNumber === null) return;
    const gaps = added.flatMap(({ readTo }) => (readTo === null ? [] : [readTo + 1]));
    const unread = added.filter(({ readTo }) => readTo === null).map(({ contract }) => contract);
    const since = unread.length === 0 ? null : await oldestOpenPayment(tx, caip2, unread);
    const common = { caip2, to: latestNumber, address: null, reason: 'a token was added' };
    const from = Math.min(...gaps);
    if (gaps.length > 0 && from <= latestNumber) await insertRescan(tx, { ...common, from });
    if (since !== null) await insertRescan(tx, { ...common, from: since });
  });
