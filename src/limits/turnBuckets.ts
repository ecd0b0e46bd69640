import type { RateDecision, RateLimiter } from '../core/tokenBucket.ts';
import type { RemoteBuckets } from './sharedLimiter.ts';

/** Which bucket to take from, with a number that the decision is found by. */
export type Question = readonly [id: number, subject: string, perMinute: number, burst: number];
export type Decision = readonly [id: number, decision: RateDecision];

export type TurnBuckets = RemoteBuckets & { settle(decisions: readonly Decision[]): void };

/**
 * Buckets of another process of this machine. What is asked in one turn of the event loop is one message: a message costs
 * more than a hundred decisions.
 */
export const createTurnBuckets = (post: (questions: readonly Question[]) => void): TurnBuckets => {
  const waiting = new Map<number, (decision: RateDecision) => void>();
  let questions: Question[] = [];
  let asked = 0;
  const postAll = (): void => {
    const all = questions;
    questions = [];
    post(all);
  };
  return {
    take(subject, { perMinute, burst }) {
      if (questions.length === 0) setImmediate(postAll);
      asked += 1;
      questions.push([asked, subject, perMinute, burst]);
      return new Promise(resolve => waiting.set(asked, resolve));
    },
    settle(decisions) {
      for (const [id, decision] of decisions) {
        waiting.get(id)?.(decision);
        waiting.delete(id);
      }
    },
    // Whoever asked has given up.
    reconnect: () => waiting.clear(),
    close: () => waiting.clear(),
  };
};

/** Takes for those who ask from another process. */
export const decideAll = (limiter: RateLimiter, questions: readonly Question[]): Promise<Decision[]> =>
  Promise.all(
    questions.map(async ([id, subject, perMinute, burst]): Promise<Decision> => {
      const taken = limiter.take(subject, { perMinute, burst });
      return [id, await taken];
    }),
  );
