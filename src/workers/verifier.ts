import type { Driver, DriverHost } from '../chains/driver.ts';
import type { WatchedBlock } from '../core/chain.ts';
import { createRecentMap } from '../core/recentMap.ts';
import { advanceWithin } from '../engine/advanceWithin.ts';
import { LeaseLost, unrecordedMovements } from '../engine/applyBlocks.ts';
import type { Context } from '../engine/context.ts';
import { type Lease, lockChain } from '../storage/chains.ts';
import { insertForwards, verifyForwards } from '../storage/forwards.ts';
import { settleForwards } from '../storage/holdings.ts';
import {
  insertTransfers,
  paymentsInBlocks,
  type UnverifiedBlock,
  unverifiedBlocks,
  verifyTransfers,
} from '../storage/transfers.ts';

const blocksPerTurn = 20;
const rememberedBlocks = 10_000;

/**
 * Writes what a block contains after all checks: verifies recorded transfers and inserts transfers that a node left out
 * before. Native coin that was left out may already be recorded by balance.
 */
const writeBlock = (context: Context, lease: Lease, block: WatchedBlock): Promise<void> =>
  context.db.transaction(async tx => {
    const { caip2 } = lease;
    if (!(await lockChain(tx, lease))) throw new LeaseLost('another process has taken the lease of the chain');
    const verified = block.movements.filter(movement => movement.verified);
    const forwards = block.forwards.filter(forward => forward.verified);
    const position = { blockHash: block.hash, blockNumber: block.number };
    const countable = await unrecordedMovements(tx, caip2, { number: block.number, movements: verified });
    await insertTransfers(
      tx,
      caip2,
      countable.map(movement => ({ ...movement, ...position })),
    );
    await insertForwards(
      tx,
      caip2,
      forwards.map(forward => ({ ...forward, ...position })),
    );
    await verifyForwards(
      tx,
      caip2,
      forwards.map(({ key }) => key),
    );
    await verifyTransfers(
      tx,
      caip2,
      verified.map(({ key }) => key),
    );
    await advanceWithin(context, tx, await paymentsInBlocks(tx, caip2, [block]));
    if (forwards.length > 0) await settleForwards(tx, caip2, block.number, block.number);
  });

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
      const verified = [...block.movements, ...block.forwards].filter(each => each.verified);
      if (verified.length > 0) await writeBlock(context, lease, block);
      isAnyVerified ||= verified.some(({ key }) => unverified.keys.includes(key));
    }
    // After an outage there may be thousands of such blocks, and each keeps a payment waiting.
    if (due.length === blocksPerTurn && isAnyVerified) lastTurnMs = Number.NEGATIVE_INFINITY;
  };
};
