import { expect } from 'vitest';

type Status = { readonly status: number };

/** Sends requests in batches until one is refused. Fails if more pass than the rule allows. */
export const spend = async <Answer extends Status>(
  perMinute: number,
  ask: () => Promise<Answer>,
): Promise<{ passed: Answer[]; refused: Answer; elapsedSeconds: number }> => {
  const startedMs = performance.now();
  const passed: Answer[] = [];
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    const elapsedSeconds = (performance.now() - startedMs) / 1_000;
    passed.push(...answers.filter(answer => answer.status !== 429));
    const refused = answers.find(answer => answer.status === 429);
    if (refused) return { passed, refused, elapsedSeconds };
    expect(passed.length).toBeLessThanOrEqual(perMinute + (elapsedSeconds * perMinute) / 60 + 1);
  }
};
