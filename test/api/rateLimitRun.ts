import { expect } from 'vitest';
import type { Answer } from '../support/send.ts';

export type Rate = { perMinute: number; burst: number };

const figures = (answer: Answer) => {
  const figure = (name: string): number => {
    const text = answer.headers[name];
    expect(text, `${name} of ${answer.status}`).toMatch(/^\d+$/);
    return Number(text);
  };
  return {
    limit: figure('x-ratelimit-limit'),
    remaining: figure('x-ratelimit-remaining'),
    reset: figure('x-ratelimit-reset'),
  };
};

/** Some times are in whole seconds, so sums of them may be off by one. */
const slackSeconds = 1;

/**
 * Uses up a new bucket one request at a time until the first 429, and checks the headers of every answer against the
 * rule. The refill is bounded by the elapsed time, so nothing here depends on the machine's speed.
 */
export const spendAll = async ({ perMinute, burst }: Rate, ask: () => Promise<Answer>): Promise<number> => {
  const perSecond = perMinute / 60;
  const startedMs = Date.now();
  for (let taken = 1; ; taken++) {
    const answer = await ask();
    const nowMs = Date.now();
    const elapsedSeconds = (nowMs - startedMs) / 1_000;
    // The refill cannot give back more than was taken.
    const refilled = Math.min(taken - 1, elapsedSeconds * perSecond);
    const least = perMinute + burst - taken;
    const { limit, remaining, reset } = figures(answer);
    expect(limit).toBe(perMinute);

    if (answer.status === 429) {
      expect(answer.json.error.code).toBe('rate_limit_exceeded');
      expect(remaining).toBe(0);
      expect(taken, 'refused before the burst was spent').toBeGreaterThan(perMinute + burst);
      const retryAfter = Number(answer.headers['retry-after']);
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(retryAfter).toBeLessThanOrEqual(Math.ceil(60 / perMinute));
      return taken - 1;
    }
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(remaining).toBeGreaterThanOrEqual(Math.max(0, least - burst));
    expect(remaining).toBeLessThanOrEqual(Math.max(0, Math.floor(least - burst + refilled)));
    expect(reset).toBeGreaterThanOrEqual(Math.floor(startedMs / 1_000 + taken / perSecond) - slackSeconds);
    expect(reset).toBeLessThanOrEqual(Math.ceil(nowMs / 1_000 + taken / perSecond) + slackSeconds);
    expect(taken, 'more was allowed than the bucket can hold').toBeLessThanOrEqual(perMinute + burst + refilled + 1);
  }
};
