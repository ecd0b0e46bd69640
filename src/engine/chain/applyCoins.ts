import { insertBlocks } from '../../storage/chain/blocks.ts';
import { type Lease, lockChain } from '../../storage/chain/chains.ts';
import { insertMovements, paymentsInBlocks } from '../../storage/chain/transfers.ts';
import type { Context } from '../context.ts';
import { recordAndAdvance } from '../payments/recordAndAdvance.ts';
import { settleSweeps } from '../settlement/settleSweeps.ts';
import { isSettled, LeaseLost } from './applyBlocks.ts';
import type { FoundCoin } from './findCoins.ts';
import { isOurs } from './ourBlocks.ts';

/** Writes native coin found by balance, if its block is still canonical, and decides its payments. */
export const applyCoins = (context: Context, lease: Lease, coins: readonly FoundCoin[]): Promise<void> =>
  recordAndAdvance(context, async (tx, advance) => {
    const chain = await lockChain(tx, lease);
    if (!chain) throw new LeaseLost('another process has taken the lease of the chain');
    const { caip2 } = chain;
    const canonical: FoundCoin[] = [];
    for (const coin of coins) if (await isOurs(tx, chain, coin.block)) canonical.push(coin);
    if (canonical.length === 0) return;
    // A block that was deleted because it was empty is stored again.
    const blocksByHash = new Map(
      canonical.map(({ block }) => [block.hash, { ...block, movements: canonical, forwards: [] }]),
    );
    await insertBlocks(tx, caip2, [...blocksByHash.values()]);
    await insertMovements(tx, caip2, canonical);
    const touched = await paymentsInBlocks(tx, caip2, [...blocksByHash.values()]);
    await advance(touched);
    await settleSweeps(context, tx, caip2, { at: [] }, touched.filter(isSettled));
  });
