import { markBlocksNotEmpty, storedBlock } from '../storage/blocks.ts';
import { type Lease, lockChain } from '../storage/chains.ts';
import { insertTransfers, paymentsInBlocks } from '../storage/transfers.ts';
import { advanceWithin } from './advanceWithin.ts';
import { LeaseLost } from './applyBlocks.ts';
import type { Context } from './context.ts';
import type { FoundCoin } from './findCoins.ts';

/** Writes native coin that was found by the balance, in blocks that are still canonical, and decides its payments. */
export const applyCoins = (context: Context, lease: Lease, coins: readonly FoundCoin[]): Promise<void> =>
  context.db.transaction(async tx => {
    const chain = await lockChain(tx, lease);
    if (!chain) throw new LeaseLost('the lease of the chain has passed on');
    const { caip2 } = chain;
    const standing: FoundCoin[] = [];
    for (const coin of coins) {
      if ((await storedBlock(tx, caip2, coin.blockNumber))?.hash === coin.blockHash) standing.push(coin);
    }
    if (standing.length === 0) return;
    await markBlocksNotEmpty(
      tx,
      caip2,
      standing.map(({ blockHash }) => blockHash),
    );
    await insertTransfers(tx, caip2, standing);
    const blocks = standing.map(({ blockNumber: number, blockHash: hash }) => ({ number, hash }));
    await advanceWithin(context, tx, await paymentsInBlocks(tx, caip2, blocks));
  });
