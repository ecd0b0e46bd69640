export type CachedReadingOptions = {
  readonly nowMs: () => number;
  /** How long an answer is reused. Those who ask have no rate limit, so their number must not be that of the questions. */
  readonly freshMs: number;
  readonly answerTimeoutMs: number;
};

/**
 * Asks something that takes time, for many. Concurrent callers share one question. One that fails or takes too long is
 * answered with null. A new one starts only after it has ended, because each may hold a connection.
 */
export const createCachedReading = <T>(
  ask: () => Promise<T>,
  { nowMs, freshMs, answerTimeoutMs }: CachedReadingOptions,
): (() => Promise<T | null>) => {
  let latest: { readonly answer: T | null; readonly atMs: number } = { answer: null, atMs: Number.NEGATIVE_INFINITY };
  let asked: Promise<T | null> | null = null;

  const askOnce = async (): Promise<T | null> => {
    const answer = await ask().catch(() => null);
    latest = { answer, atMs: nowMs() };
    asked = null;
    return answer;
  };

  return async () => {
    if (nowMs() - latest.atMs < freshMs) return latest.answer;
    asked ??= askOnce();
    const { promise: tooLate, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, answerTimeoutMs, null);
    try {
      return await Promise.race([asked, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
};
