/** Writes a time as ISO 8601. Under load the same millisecond is asked for again and again, and writing it out is dear. */
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
