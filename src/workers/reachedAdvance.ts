import type { Context } from '../engine/context.ts';
import { dueAtHeight } from '../storage/payments/duePayments.ts';
import { advanceInSets } from './advanceInSets.ts';

const dueShare = 200;
/** Of all chains together: each holds a connection beside the one of its blocks, and requests need some, too. */
const mostAtOnce = 3;

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
  /** Advances the payments that are due now, once those before are advanced. Waits for it if too many chains do this. */
  start(): Promise<void>;
  /** Waits for what was started, and throws its fault. */
  finish(): Promise<void>;
  /** Ends what was started after the transaction that it is in, and throws its fault. What is left stays due. */
  stop(): Promise<void>;
};

/** How many chains advance payments beside their blocks. */
export type AdvanceTurns = { running: number };

type Ended = { readonly error: unknown } | null;

/**
 * Advances payments that waited for a height that the chain has reached. It runs beside the writing of the next blocks: in
 * a chain's history both take long, and while one waits for the database the other can use the processor.
 */
export const createReachedAdvance = (
  context: Context,
  caip2: string,
  { turns, signal }: { readonly turns: AdvanceTurns; readonly signal: AbortSignal },
): ReachedAdvance => {
  let isRunning = false;
  let stopping = new AbortController();
  /** Never rejects: `finish` throws the fault. */
  let ended: Promise<Ended> = Promise.resolve(null);
  const run = async (): Promise<Ended> => {
    try {
      await advanceReached(context, caip2, AbortSignal.any([signal, stopping.signal]));
      return null;
    } catch (error) {
      return { error };
    } finally {
      isRunning = false;
      turns.running -= 1;
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
      if (turns.running >= mostAtOnce) return advanceReached(context, caip2, signal);
      turns.running += 1;
      isRunning = true;
      stopping = new AbortController();
      ended = run();
    },
    async stop() {
      stopping.abort();
      await finish();
    },
  };
};
