/** How long a result is reused. Probes have no rate limit, so their number must not determine the number of queries. */
const freshMs = 1_000;
const longestAnswerMs = 2_000;

/**
 * Checks whether the database responds. Concurrent callers share one query. A query that takes too long counts as a
 * failure. A new one starts only after it has ended, because each holds a connection.
 */
export const createReadiness = (
  ask: () => Promise<unknown>,
  nowMs: () => number,
  answerTimeoutMs = longestAnswerMs,
): (() => Promise<boolean>) => {
  let latest = { answer: false, atMs: Number.NEGATIVE_INFINITY };
  let asked: Promise<boolean> | null = null;

  const askOnce = async (): Promise<boolean> => {
    const answer = await ask().then(
      () => true,
      () => false,
    );
    latest = { answer, atMs: nowMs() };
    asked = null;
    return answer;
  };

  return async () => {
    if (nowMs() - latest.atMs < freshMs) return latest.answer;
    asked ??= askOnce();
    const { promise: tooLate, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, answerTimeoutMs, false);
    try {
      return await Promise.race([asked, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
};
