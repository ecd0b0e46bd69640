import type { RateLimit } from '../core/plans.ts';
import { type Bucket, fullBucket, type RateDecision, takeToken } from '../core/tokenBucket.ts';

/** Narrow on purpose: a limiter shared between nodes can stand beside the one in this process. */
export type RateLimiter = {
  take(subject: string, rate: RateLimit): RateDecision | Promise<RateDecision>;
};

/** Past this many subjects the longest unused are forgotten. A forgotten bucket starts full again. */
const maximumSubjects = 100_000;

export const createRateLimiter = (nowMs: () => number): RateLimiter => {
  const buckets = new Map<string, Bucket>();
  const bucketOf = (subject: string, rate: RateLimit): Bucket => {
    const existing = buckets.get(subject);
    const bucket = existing ?? fullBucket(rate, nowMs());
    // Map order is insertion order, so moving a used subject to the end keeps the longest unused first.
    if (existing) buckets.delete(subject);
    buckets.set(subject, bucket);
    if (buckets.size > maximumSubjects) buckets.delete(buckets.keys().next().value!);
    return bucket;
  };
  return {
    take: (subject, rate) => takeToken(bucketOf(subject, rate), rate, nowMs()),
  };
};
