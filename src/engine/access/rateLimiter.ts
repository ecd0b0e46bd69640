import type { RateLimit } from '../../core/plans.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { type Bucket, fullBucket, type RateDecision, takeToken } from '../../core/tokenBucket.ts';

/** A narrow interface, so that a limiter shared between nodes can replace this one. */
export type RateLimiter = {
  take(subject: string, rate: RateLimit): RateDecision | Promise<RateDecision>;
};

/** Above this number unused buckets are evicted. An evicted bucket starts full again. */
const maxSubjects = 100_000;

export const createRateLimiter = (nowMs: () => number): RateLimiter => {
  const buckets = createRecentMap<Bucket>(maxSubjects);
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
