import { advancePayment } from '../engine/advancePayment.ts';
import type { Context } from '../engine/context.ts';
import { purgeIdempotencyKeys } from '../storage/idempotency.ts';
import { duePayments } from '../storage/payments.ts';
import { foldTotals } from '../storage/totals.ts';
import { type Loop, startLoop } from './loop.ts';

const sweepBatch = 200;
const foldBatch = 5_000;
const purgeBatch = 5_000;

/** Time is a row: payments whose wake-up time has come are decided again. */
export const startSweeper = (context: Context): Loop =>
  startLoop({
    name: 'sweeper',
    intervalMs: 250,
    log: context.log,
    async work(signal) {
      const due = await duePayments(context.db, sweepBatch);
      for (const { accountId, environment, id } of due) {
        if (signal.aborted) return false;
        await context.db.transaction(tx => advancePayment(context, tx, { accountId, environment }, id));
      }
      return due.length === sweepBatch;
    },
  });

/** Keeps the deltas few, so that a total reads few of them. */
export const startFolder = (context: Context): Loop =>
  startLoop({
    name: 'folder',
    intervalMs: 1_000,
    log: context.log,
    work: async () => (await foldTotals(context.db, foldBatch)) === foldBatch,
  });

/** Idempotency keys are promised for a day. */
export const startPurger = (context: Context): Loop =>
  startLoop({
    name: 'purger',
    intervalMs: 60_000,
    log: context.log,
    work: async () => (await purgeIdempotencyKeys(context.db, purgeBatch)) === purgeBatch,
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
