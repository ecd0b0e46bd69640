import type { Context } from '../engine/context.ts';
import { announceEffects } from '../engine/wallets/announceEffects.ts';
import { duePayments } from '../storage/payments/duePayments.ts';
import { foldTotals } from '../storage/payments/totals.ts';
import { advanceInSets } from './advanceInSets.ts';
import { type Loop, startLoop } from './loop.ts';

/** Payments per chain in one round, for tokens and for native coin. */
const sweepShare = 200;
const foldBatch = 5_000;

/** One round over all due payments. Returns whether there may be more now. */
export const sweep = async (context: Context, signal?: AbortSignal): Promise<boolean> => {
  const due = await duePayments(context.db, sweepShare);
  const moved = await advanceInSets(context, due, signal);
  // Locked rows stay due. Asking for them again without a pause would be a busy loop.
  return due.length >= sweepShare && moved > 0;
};

/** Advances payments whose wake-up time has come. */
export const startSweeper = (context: Context): Loop =>
  startLoop({
    name: 'sweeper',
    intervalMs: 250,
    log: context.log,
    work: signal => sweep(context, signal),
  });

/** Folds the deltas of the totals, so that reading a total adds up only a few. */
export const startFolder = (context: Context): Loop =>
  startLoop({
    name: 'folder',
    intervalMs: 1_000,
    log: context.log,
    work: async () => (await foldTotals(context.db, foldBatch)) === foldBatch,
  });

/** Announces wallet changes that have taken effect. */
export const startEffectAnnouncer = (context: Context): Loop =>
  startLoop({ name: 'wallet effects', intervalMs: 1_000, log: context.log, work: () => announceEffects(context) });

/** Keeps this process in step with the database's clock. */
export const startClockKeeper = (context: Pick<Context, 'clock' | 'log'>): Loop =>
  startLoop({
    name: 'clock',
    intervalMs: 5_000,
    log: context.log,
    async work() {
      await context.clock.synchronize();
      return false;
    },
  });

/** Records the last use of API keys once a minute, so that no request waits for it. */
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
