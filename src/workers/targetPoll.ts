import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../engine/context.ts';
import { lookAtTargets, parkClosed, type Target } from '../storage/webhooks/deliveries.ts';
import type { Loop } from './loop.ts';
import { createWake } from './wake.ts';

/** Poll interval without notifications; longer if a poll is expensive. */
const [pollMs, maxPollMs] = [1_000, 60_000];
const costFactor = 20;
/**
 * Targets per statement. The pause after a statement is `pauseFactor` times as long as the statement took, so that the
 * poll does not slow down deliveries.
 */
const [pageSize, pauseFactor] = [100, 4];
const parkSize = 500;

/**
 * Polls all targets with scheduled deliveries: reports those with due deliveries and parks the deliveries of disabled
 * or deleted endpoints. Runs beside the claims, which do not wait for it.
 */
export const startTargetPoll = (
  context: Context,
  onDue: (target: Target, wasFailing: boolean) => void,
): Loop & { pollSoon(): void } => {
  const { db, log } = context;
  const wake = createWake();
  let isStopping = false;

  const warn = (error: unknown): void =>
    log.warn({ loop: 'target poll', err: error }, 'a background loop failed and will try again');

  /** A failure to park must not stop the poll. */
  const park = async (closed: readonly Target[]): Promise<void> => {
    try {
      while (closed.length > 0 && !isStopping && (await parkClosed(db, closed, parkSize)) === parkSize);
    } catch (error) {
      warn(error);
    }
  };

  /** Returns the time it took, without the pauses. */
  const pollOnce = async (): Promise<number> => {
    let [upTo, allMs]: [Target | null, number] = [null, 0];
    for (;;) {
      const startedMs = performance.now();
      const page = await lookAtTargets(db, upTo, pageSize);
      for (const { failing, ...target } of page.due) onDue(target, failing);
      await park(page.closed);
      upTo = page.upTo;
      const tookMs = performance.now() - startedMs;
      allMs += tookMs;
      if (upTo === null || isStopping) return allMs;
      await pause(pauseFactor * tookMs);
    }
  };

  const run = async (): Promise<void> => {
    let previousMs = 0;
    while (!isStopping) {
      let waitMs = pollMs;
      try {
        const tookMs = await pollOnce();
        // One slow poll may be an exception, so the faster of the last two counts.
        waitMs = Math.max(pollMs, Math.min(costFactor * Math.min(tookMs, previousMs), maxPollMs));
        previousMs = tookMs;
      } catch (error) {
        warn(error);
      }
      await wake.next(waitMs);
    }
  };
  const running = run();
  return {
    pollSoon: wake.up,
    async stop() {
      isStopping = true;
      wake.up();
      await running;
    },
  };
};
