import type { Context } from '../engine/context.ts';
import { pruneBlocks } from '../storage/blocks.ts';
import { purgeSignIns } from '../storage/dashboard/signInFailures.ts';
import { purgeDeliveries } from '../storage/deliveryLog.ts';
import { purgeIdempotencyKeys } from '../storage/idempotency.ts';
import { duePayments } from '../storage/payments.ts';
import { foldTotals } from '../storage/totals.ts';
import { advanceInSets } from './advanceInSets.ts';
import { type Loop, startLoop } from './loop.ts';

/** Of each network, in one round. */
const sweepShare = 200;
const foldBatch = 5_000;
const purgeBatch = 5_000;
const keptBlocks = 256;

/** One round over all that is due. True when there may be more at once. */
export const sweep = async (context: Context, signal?: AbortSignal): Promise<boolean> => {
  const due = await duePayments(context.db, sweepShare);
  const moved = await advanceInSets(context, due, signal);
  // Rows that others hold stay due; asking for them without a pause would only spin.
  return due.length >= sweepShare && moved > 0;
};

/** Time is a row: payments whose wake-up time has come are decided again. */
export const startSweeper = (context: Context): Loop =>
  startLoop({
    name: 'sweeper',
    intervalMs: 250,
    log: context.log,
    work: signal => sweep(context, signal),
  });

/** Keeps the deltas few, so that a total reads few of them. */
export const startFolder = (context: Context): Loop =>
  startLoop({
    name: 'folder',
    intervalMs: 1_000,
    log: context.log,
    work: async () => (await foldTotals(context.db, foldBatch)) === foldBatch,
  });

/**
 * Idempotency keys are promised for a day; blocks are kept as far down as a reorg may reach; deliveries that succeeded, as
 * long as the operator says; and sessions, challenges and failed sign-ins until they mean nothing any more.
 */
export const startPurger = (context: Context, deliveryLogDays: number): Loop =>
  startLoop({
    name: 'purger',
    intervalMs: 60_000,
    log: context.log,
    async work() {
      const keys = await purgeIdempotencyKeys(context.db, purgeBatch);
      const blocks = await pruneBlocks(context.db, keptBlocks, purgeBatch);
      const deliveries = await purgeDeliveries(context.db, deliveryLogDays, purgeBatch);
      const signIns = await purgeSignIns(context.db, purgeBatch);
      return [keys, blocks, deliveries, signIns].some(count => count >= purgeBatch);
    },
  });

/** Keeps this process's idea of the database's clock. */
export const startClockKeeper = (context: Context): Loop =>
  startLoop({
    name: 'clock',
    intervalMs: 5_000,
    log: context.log,
    async work() {
      await context.clock.synchronize();
      return false;
    },
  });

/** When keys were last used is known to a minute: no request waits for it to be written down. */
export const startKeyUseKeeper = ({ keyUses, log }: Pick<Context, 'keyUses' | 'log'>): Loop => {
  const flush = async (): Promise<false> => {
    await keyUses.flush();
    return false;
  };
  const loop = startLoop({ name: 'key uses', intervalMs: 60_000, log, work: flush });
  return {
    async stop() {
      await loop.stop();
      await flush();
    },
  };
};
