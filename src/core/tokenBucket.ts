import type { RateLimit } from './plans.ts';

/** The bucket starts full. Its capacity is perMinute + burst; it refills at perMinute/60 per second. */
export type Bucket = { tokens: number; updatedMs: number };

export type RateDecision = {
  readonly allowed: boolean;
  /** What is left in the bucket, also less than one. */
  readonly tokens: number;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which Remaining is back at the limit. */
  readonly resetSeconds: number;
  /** Whole seconds until the next request is allowed; 0 if this one was. */
  readonly retryAfterSeconds: number;
};

/** One bucket for each subject, wherever the buckets are. */
export type RateLimiter = {
  take(subject: string, rate: RateLimit): RateDecision | Promise<RateDecision>;
};

export const fullBucket = (rate: RateLimit, nowMs: number): Bucket => ({
  tokens: rate.perMinute + rate.burst,
  updatedMs: nowMs,
});

const refill = (bucket: Bucket, rate: RateLimit, nowMs: number): void => {
  const elapsedMs = Math.max(0, nowMs - bucket.updatedMs);
  bucket.tokens = Math.min(rate.perMinute + rate.burst, bucket.tokens + (elapsedMs * rate.perMinute) / 60_000);
  bucket.updatedMs = nowMs;
};

/** What a client is told about its bucket, after the request was counted. */
export const decisionOf = (
  bucket: Pick<Bucket, 'tokens'>,
  rate: RateLimit,
  nowMs: number,
  allowed: boolean,
): RateDecision => {
  const missing = Math.max(0, rate.perMinute + rate.burst - bucket.tokens);
  return {
    allowed,
    tokens: bucket.tokens,
    limit: rate.perMinute,
    remaining: Math.max(0, Math.floor(bucket.tokens - rate.burst)),
    resetSeconds: Math.ceil((nowMs + (missing * 60_000) / rate.perMinute) / 1000),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(((1 - bucket.tokens) * 60) / rate.perMinute)),
  };
};

/** Takes a token if there is one. Changes the bucket in place. */
export const takeToken = (bucket: Bucket, rate: RateLimit, nowMs: number): RateDecision => {
  refill(bucket, rate, nowMs);
  const allowed = bucket.tokens >= 1;
  if (allowed) bucket.tokens -= 1;
  return decisionOf(bucket, rate, nowMs, allowed);
};
