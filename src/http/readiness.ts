/** How long an answer is good for. Probes are not limited, so their number must not decide how often the database is asked. */
const freshMs = 1_000;
const longestAnswerMs = 2_000;

/**
 * Asks whether the database answers, once for everybody who wants to know at the same time. A question that is not
 * answered in time counts as no, and is not asked again before it has ended: each holds a connection.
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
