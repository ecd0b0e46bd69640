import type { Log } from '../../core/log.ts';

const pauseMs = 60_000;

type Clock = { nowMs(): number; later(run: () => void, delayMs: number): void };

const ownClock: Clock = {
  nowMs: () => performance.now(),
  later: (run, delayMs) => void setTimeout(run, delayMs).unref(),
};

/**
 * A warning about what clients do, as often as they like. The first one is logged at once. After that there is at most one
 * a minute, with the latest case and the number of cases since the last line.
 */
export const createRareWarning = (
  log: Log,
  message: string,
  { nowMs, later }: Clock = ownClock,
): ((fields: Readonly<Record<string, unknown>>) => void) => {
  let loggedMs = Number.NEGATIVE_INFINITY;
  let times = 0;
  let latest: Readonly<Record<string, unknown>> = {};
  const tell = (): void => {
    log.warn({ ...latest, times }, message);
    loggedMs = nowMs();
    times = 0;
  };
  return fields => {
    times += 1;
    latest = fields;
    const restMs = loggedMs + pauseMs - nowMs();
    if (restMs <= 0) tell();
    // The first of those that wait: otherwise nobody would hear of them if they were the last.
    else if (times === 1) later(() => times > 0 && tell(), restMs);
  };
};
