/**
 * The pause after so many failures in a row: it doubles up to the longest. `random` is in [0, 1); the jitter takes up to half
 * of it away, so that processes that lost the same server do not ask for the next one together.
 */
export const backOffMs = (failures: number, shortestMs: number, longestMs: number, random: number): number =>
  Math.min(shortestMs * 2 ** Math.min(failures - 1, 20), longestMs) * (0.5 + random / 2);
