import type { Driver, Surroundings } from '../chains/driver.ts';
import { advanceWithin } from '../engine/advanceWithin.ts';
import { LeaseLost } from '../engine/applyBlocks.ts';
import type { Context } from '../engine/context.ts';
import { type Lease, lockChain } from '../storage/chains.ts';
import { paymentsInBlocks, unverifiedBlocks, verifyTransfers } from '../storage/transfers.ts';

const intervalMs = 30_000;
const blocksATurn = 20;

/**
 * Reads blocks again in which transfers could not be verified: a node may have been wrong, or may by now have what it
 * lacked. As long as they are not, they count as received and never as final.
 */
export const createVerifier = (context: Context, driver: Driver, lease: Lease) => {
  const { caip2 } = lease;
  let lastTurnMs = performance.now();
  return async (surroundings: Surroundings, signal: AbortSignal): Promise<void> => {
    if (performance.now() - lastTurnMs < intervalMs) return;
    lastTurnMs = performance.now();
    for (const { number, hash } of await unverifiedBlocks(context.db, caip2, blocksATurn)) {
      const block = await driver.reread(number, surroundings, signal);
      if (block?.hash !== hash) continue;
      const keys = block.movements.filter(({ verified }) => verified).map(({ key }) => key);
      const left = block.movements.length - keys.length;
      if (left > 0) context.log.error({ caip2, block: number, left }, 'transfers could not be verified');
      if (keys.length === 0) continue;
      await context.db.transaction(async tx => {
        if (!(await lockChain(tx, lease))) throw new LeaseLost('the lease of the chain has passed on');
        await verifyTransfers(tx, caip2, keys);
        await advanceWithin(context, tx, await paymentsInBlocks(tx, caip2, [{ number, hash }]));
      });
    }
  };
};
