import type { Context } from '../engine/context.ts';
import { dueAtHeight } from '../storage/payments/duePayments.ts';
import { advanceInSets } from './advanceInSets.ts';

const dueShare = 200;

const advanceReached = async (context: Context, caip2: string, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const due = await dueAtHeight(context.db, caip2, dueShare);
    if (due.length === 0) return;
    // Locked rows are being decided elsewhere. They stay due for the next round.
    if ((await advanceInSets(context, due, signal)) === 0) return;
  }
};

export type ReachedAdvance = {
  isRunning(): boolean;
  /** Starts to advance the payments that are due now, once those before are advanced. */
  start(): Promise<void>;
  /** Waits for what was started, and throws its fault. */
  finish(): Promise<void>;
};

/**
 * Advances payments that waited for a height that the chain has reached. It runs beside the writing of the next blocks: in
 * a chain's history both take long, and while one waits for the database the other can use the processor.
 */
export const createReachedAdvance = (context: Context, caip2: string, signal: AbortSignal): ReachedAdvance => {
  let isRunning = false;
  /** The fault, or null. It is thrown by whoever waits, and no unhandled rejection meanwhile. */
  let ended: Promise<{ readonly error: unknown } | null> = Promise.resolve(null);
  const run = async (): Promise<{ readonly error: unknown } | null> => {
    try {
      await advanceReached(context, caip2, signal);
      return null;
    } catch (error) {
      return { error };
    } finally {
      isRunning = false;
    }
  };
  const finish = async (): Promise<void> => {
    const fault = await ended;
    ended = Promise.resolve(null);
    if (fault) throw fault.error;
  };
  return {
    isRunning: () => isRunning,
    finish,
    async start() {
      await finish();
      isRunning = true;
      ended = run();
    },
  };
};
