import { setTimeout as pause } from 'node:timers/promises';
import { backOffMs } from '../core/backOff.ts';
import type { Log } from '../core/log.ts';

export type Loop = { stop(): Promise<void> };

const longestDelayMs = 5_000;

/**
 * Runs `work` every `intervalMs` until stopped, or again at once if it returns that there is more. A failure is logged
 * and retried with a growing delay: all work is still in the database.
 */
export const startLoop = (options: {
  name: string;
  intervalMs: number;
  work: (signal: AbortSignal) => Promise<boolean>;
  log: Log;
}): Loop => {
  const { name, intervalMs, work, log } = options;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let more = false;
      try {
        more = await work(stopping.signal);
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures += 1;
        log.warn({ loop: name, failures, err: error }, 'a background loop failed and will try again');
      }
      if (more) continue;
      const delayMs = failures === 0 ? intervalMs : backOffMs(failures, 2 * intervalMs, longestDelayMs, Math.random());
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
