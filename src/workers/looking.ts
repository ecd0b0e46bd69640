import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../engine/context.ts';
import { lookAtTargets, parkClosed, type Target } from '../storage/deliveries.ts';
import type { Loop } from './loop.ts';
import { createWake } from './wake.ts';

/** How often targets are looked through when nothing is heard of them; longer where that costs more. */
const [lookMs, longestMs] = [1_000, 60_000];
const costFactor = 20;
/** Little at a time, and four times as long nothing: whoever is well must not notice that all others are looked through. */
const [lookSize, breathFactor] = [100, 4];
const parkSize = 500;

/**
 * Goes through all targets that have anything scheduled, again and again: what is due is told, and what is scheduled for
 * an endpoint that is disabled or deleted is parked. Beside the claims, which do not wait for it.
 */
export const startLooking = (
  context: Context,
  hear: (target: Target, wasFailing: boolean) => void,
): Loop & { soon(): void } => {
  const { db, log } = context;
  const wake = createWake();
  let isStopping = false;

  const warn = (error: unknown): void =>
    log.warn({ loop: 'looking', err: error }, 'a background loop failed and will try again');

  /** Those that cannot be parked are not to keep the others from being looked at. */
  const park = async (closed: readonly Target[]): Promise<void> => {
    try {
      while (closed.length > 0 && !isStopping && (await parkClosed(db, closed, parkSize)) === parkSize);
    } catch (error) {
      warn(error);
    }
  };

  /** Answers what it took, the pauses left out. */
  const lookThrough = async (): Promise<number> => {
    let [upTo, allMs]: [Target | null, number] = [null, 0];
    for (;;) {
      const sinceMs = performance.now();
      const seen = await lookAtTargets(db, upTo, lookSize);
      for (const { failing, ...target } of seen.due) hear(target, failing);
      await park(seen.closed);
      upTo = seen.upTo;
      const tookMs = performance.now() - sinceMs;
      allMs += tookMs;
      if (upTo === null || isStopping) return allMs;
      await pause(breathFactor * tookMs);
    }
  };

  const run = async (): Promise<void> => {
    let earlierMs = 0;
    while (!isStopping) {
      let restMs = lookMs;
      try {
        const tookMs = await lookThrough();
        // One that took long by itself says more of that moment than of what there is to look through.
        restMs = Math.max(lookMs, Math.min(costFactor * Math.min(tookMs, earlierMs), longestMs));
        earlierMs = tookMs;
      } catch (error) {
        warn(error);
      }
      await wake.next(restMs);
    }
  };
  const running = run();
  return {
    soon: wake.up,
    async stop() {
      isStopping = true;
      wake.up();
      await running;
    },
  };
};
