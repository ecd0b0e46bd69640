import type { Log } from '../../core/log.ts';

const pauseMs = 60_000;

/**
 * A warning about what clients do, as often as they like. The first one is logged at once. After that there is at most one
 * a minute, with the number of cases since the last one.
 */
export const createRareWarning = (
  log: Log,
  message: string,
  nowMs: () => number = () => performance.now(),
): ((fields: Readonly<Record<string, unknown>>) => void) => {
  let loggedMs = Number.NEGATIVE_INFINITY;
  let times = 0;
  return fields => {
    times += 1;
    const now = nowMs();
    if (now - loggedMs < pauseMs) return;
    log.warn({ ...fields, times }, message);
    loggedMs = now;
    times = 0;
  };
};
