import { createRecentMap } from '../core/recentMap.ts';
import { type Bucket, fullBucket, type RateLimiter, takeToken } from '../core/tokenBucket.ts';

/** Above this number unused buckets are evicted. An evicted bucket starts full again. */
const maxSubjects = 100_000;

export type LocalLimiter = RateLimiter & {
  /** Sets what a bucket holds. */
  remember(subject: string, tokens: number): void;
};

/** Buckets in the memory of this process. */
export const createLocalLimiter = (nowMs: () => number): LocalLimiter => {
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
    remember(subject, tokens) {
      const bucket = buckets.get(subject);
      if (!bucket) buckets.set(subject, { tokens, updatedMs: nowMs() });
      else {
        bucket.tokens = tokens;
        bucket.updatedMs = nowMs();
      }
    },
  };
};
