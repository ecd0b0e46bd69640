import type { WatchedBlock } from '../../core/chain.ts';
import { insertBlocks } from '../../storage/chain/blocks.ts';
import type { Lease } from '../../storage/chain/chains.ts';
import { paymentsInBlocks } from '../../storage/chain/transfers.ts';
import type { Context } from '../context.ts';
import { recordAndAdvance } from '../payments/recordAndAdvance.ts';
import { settleSweeps } from '../settlement/settleSweeps.ts';
import { isSettled } from './applyBlocks.ts';
import { lockHeldChain } from './heldChain.ts';
import { onlyOurs } from './ourBlocks.ts';
import { writeMovements } from './writeMovements.ts';

/** Writes native coin found by balance, if its block is still canonical, and decides its payments. A block may repeat. */
export const applyCoins = (context: Context, lease: Lease, found: readonly WatchedBlock[]): Promise<void> =>
  recordAndAdvance(context, async (tx, advance) => {
    const chain = await lockHeldChain(tx, lease);
    const { caip2, branch } = chain;
    const canonical = await onlyOurs(context, tx, chain, found);
    if (canonical.length === 0) return;
    const blocks = [...new Map(canonical.map(block => [block.hash, block])).values()];
    // A block that was deleted because it was empty is stored again.
    await insertBlocks(tx, context.vault, { caip2, branch, isShown: false }, blocks);
    await writeMovements(context, tx, caip2, canonical);
    const touched = await paymentsInBlocks(tx, caip2, blocks);
    await advance(touched);
    await settleSweeps(context, tx, caip2, { at: [] }, touched.filter(isSettled));
  });
