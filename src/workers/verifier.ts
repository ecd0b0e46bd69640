import type { Driver, DriverHost } from '../chains/driver.ts';
import type { WatchedBlock } from '../core/chain.ts';
import { createRecentMap } from '../core/recentMap.ts';
import { applyVerified } from '../engine/chain/applyReread.ts';
import type { Context } from '../engine/context.ts';
import type { Lease } from '../storage/chain/chains.ts';
import { type UnverifiedBlock, unverifiedBlocks } from '../storage/chain/transfers.ts';

const blocksPerTurn = 20;
const rememberedBlocks = 10_000;

/**
 * Reads blocks with unverified transfers again: a node may have been wrong, or may now have what it lacked. Unverified
 * transfers count as received but never as final. Some stay unverified, so each block gets its turn.
 */
export const createVerifier = (
  context: Context,
  driver: Driver,
  lease: Lease,
  intervalMs: number,
  clock: { now(): number } = performance,
) => {
  const { caip2 } = lease;
  let lastTurnMs = clock.now();
  let after = -1;
  const loggedBlocks = createRecentMap<true>(rememberedBlocks);

  const logUnverified = ({ number, hash, keys }: UnverifiedBlock, { movements, forwards }: WatchedBlock): void => {
    const verifiedByKey = new Map([...movements, ...forwards].map(({ key, verified }) => [key, verified]));
    const left = keys.filter(key => verifiedByKey.get(key) !== true).length;
    if (left === 0 || loggedBlocks.get(hash)) return;
    loggedBlocks.set(hash, true);
    const absent = keys.filter(key => !verifiedByKey.has(key)).length;
    context.log.error({ caip2, block: number, left, absent }, 'transfers could not be verified');
  };

  return async (host: DriverHost, signal: AbortSignal): Promise<void> => {
    if (clock.now() - lastTurnMs < intervalMs) return;
    lastTurnMs = clock.now();
    const due = await unverifiedBlocks(context.db, caip2, after, blocksPerTurn);
    after = due.length < blocksPerTurn ? -1 : due.at(-1)!.number;
    let isAnyVerified = false;
    for (const unverified of due) {
      const block = await driver.reread(unverified.number, host, signal);
      if (block?.hash !== unverified.hash) continue;
      logUnverified(unverified, block);
      const verifiedKeys = await applyVerified(context, lease, block);
      isAnyVerified ||= unverified.keys.some(key => verifiedKeys.includes(key));
    }
    // After an outage there may be thousands of such blocks, and each keeps a payment waiting.
    if (due.length === blocksPerTurn && isAnyVerified) lastTurnMs = Number.NEGATIVE_INFINITY;
  };
};
