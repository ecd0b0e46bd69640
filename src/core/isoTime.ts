/**
 * Formats ISO 8601 times. Under load the same millisecond is formatted many times and formatting is expensive, so the
 * last result is kept.
 */
export const createIsoTime = (): ((ms: number) => string) => {
  let lastMs = Number.NaN;
  let lastText = '';
  return ms => {
    if (ms !== lastMs) {
      lastText = new Date(ms).toISOString();
      lastMs = ms;
    }
    return lastText;
  };
};
