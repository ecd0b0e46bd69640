import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import type { RateLimiter } from '../core/tokenBucket.ts';
import { createLocalLimiter } from '../limits/localLimiter.ts';
import { openRedisBuckets } from '../limits/redisBuckets.ts';
import { createSharedLimiter, type RemoteBuckets } from '../limits/sharedLimiter.ts';
import { monotonicMs } from './compose.ts';
import type { Config } from './config.ts';
import type { Stack } from './stack.ts';

type Parts = {
  readonly deployment: string;
  /** Those of the supervisor of this process, if it has one. */
  readonly buckets: RemoteBuckets | undefined;
  readonly log: Log;
  readonly meter: Meter;
  readonly stack: Stack;
  readonly budgetMs: number | undefined;
};

/** The buckets of this process, or those that all API processes share: in Redis, or else in their supervisor. */
export const startLimits = ({ redis }: Config, parts: Parts): RateLimiter => {
  const { deployment, buckets, log, meter, stack, budgetMs } = parts;
  const local = createLocalLimiter(monotonicMs);
  if (redis === null && buckets === undefined) return local;
  const lost =
    redis === null
      ? 'rate limits are counted in this process alone: its supervisor does not answer in time'
      : 'rate limits are counted in this process alone: REDIS_URL does not answer in time';
  const tell = (isShared: boolean, cause: unknown): void => {
    meter.limitsShared(isShared);
    if (isShared) log.info({}, 'rate limits are counted together again');
    else log.error({ err: cause }, lost);
  };
  meter.limitsShared(true);
  const remote = redis === null ? buckets! : openRedisBuckets(redis, deployment, () => limiter.retry());
  const limiter = createSharedLimiter({ remote, local, nowMs: monotonicMs, budgetMs, tell });
  stack.push('shared rate limits', () => remote.close());
  return limiter;
};
