import { advancePayments } from '../engine/advancePayment.ts';
import type { Context } from '../engine/context.ts';
import { isUnavailable } from '../storage/database.ts';
import { purgeIdempotencyKeys } from '../storage/idempotency.ts';
import { duePayments, type PaymentKey, postponePayments } from '../storage/payments.ts';
import { foldTotals } from '../storage/totals.ts';
import { type Loop, startLoop } from './loop.ts';

/** Of each network, in one round. */
const sweepShare = 200;
/** Payments in one transaction. */
const sweepBatch = 200;
const postponeSeconds = 60;
const foldBatch = 5_000;
const purgeBatch = 5_000;

type Failure = { key: PaymentKey; error: unknown };
type Swept = { written: number; failed: readonly Failure[] };

const sweepTogether = (context: Context, keys: readonly PaymentKey[]): Promise<Swept> =>
  context.db.transaction(tx => advancePayments(context, tx, keys, { whenLocked: 'skip' }));

/** The database says only that some row was refused, so each is tried alone; the fault stays with its own. */
const sweepOneByOne = async (context: Context, keys: readonly PaymentKey[]): Promise<Swept> => {
  let written = 0;
  const failed: Failure[] = [];
  for (const key of keys) {
    try {
      const swept = await sweepTogether(context, [key]);
      written += swept.written;
      failed.push(...swept.failed);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failed.push({ key, error });
    }
  }
  return { written, failed };
};

const sweepSome = async (context: Context, keys: readonly PaymentKey[]): Promise<Swept> => {
  try {
    return await sweepTogether(context, keys);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return sweepOneByOne(context, keys);
  }
};

const postpone = async (context: Context, failed: Swept['failed']): Promise<void> => {
  for (const { key, error } of failed) {
    const { id: paymentId, accountId } = key;
    context.log.error({ paymentId, accountId, postponeSeconds, err: error }, 'a due payment could not be advanced');
  }
  const keys = failed.map(({ key }) => key);
  if (keys.length > 0) await postponePayments(context.db, keys, postponeSeconds);
};

/** One round over all that is due. True when there may be more at once. */
export const sweep = async (context: Context, signal?: AbortSignal): Promise<boolean> => {
  const due = await duePayments(context.db, sweepShare);
  let moved = 0;
  const failed: Failure[] = [];
  for (let at = 0; at < due.length && !signal?.aborted; at += sweepBatch) {
    const swept = await sweepSome(context, due.slice(at, at + sweepBatch));
    moved += swept.written + swept.failed.length;
    failed.push(...swept.failed);
  }
  await postpone(context, failed);
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
