import type { RateLimit } from '../core/plans.ts';
import { createRecentMap } from '../core/recentMap.ts';
import { type Bucket, fullBucket, type RateDecision, takeToken } from '../core/tokenBucket.ts';

/** Narrow on purpose: a limiter shared between nodes can stand beside the one in this process. */
export type RateLimiter = {
  take(subject: string, rate: RateLimit): RateDecision | Promise<RateDecision>;
};

/** Past this many subjects unused ones are forgotten. A forgotten bucket starts full again, as an unused one is. */
const maximumSubjects = 100_000;

export const createRateLimiter = (nowMs: () => number): RateLimiter => {
  const buckets = createRecentMap<Bucket>(maximumSubjects);
  return {
    take(subject, rate) {
      const now = nowMs();
      let bucket = buckets.get(subject);
      if (!bucket) {
        bucket = fullBucket(rate, now);
        buckets.set(subject, bucket);
      }
      return takeToken(bucket, rate, now);
    },
  };
};
