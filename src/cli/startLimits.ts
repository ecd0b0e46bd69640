import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import type { RateLimiter } from '../core/tokenBucket.ts';
import { createLocalLimiter } from '../limits/localLimiter.ts';
import { openRedisBuckets } from '../limits/redisBuckets.ts';
import { createSharedLimiter } from '../limits/sharedLimiter.ts';
import { monotonicMs } from './compose.ts';
import type { Config } from './config.ts';
import type { Stack } from './stack.ts';

type Parts = {
  readonly deployment: string;
  readonly log: Log;
  readonly meter: Meter;
  readonly stack: Stack;
  readonly budgetMs: number | undefined;
};

/** The buckets of this process, or those that all API processes share. */
export const startLimits = ({ redis }: Config, { deployment, log, meter, stack, budgetMs }: Parts): RateLimiter => {
  const local = createLocalLimiter(monotonicMs);
  if (redis === null) return local;
  const tell = (isShared: boolean, cause: unknown): void => {
    meter.limitsShared(isShared);
    if (isShared) log.info({}, 'rate limits are counted together again');
    else log.error({ err: cause }, 'rate limits are counted in this process alone: REDIS_URL does not answer in time');
  };
  meter.limitsShared(true);
  const remote = openRedisBuckets(redis, deployment, () => limiter.retry());
  const limiter = createSharedLimiter({ remote, local, nowMs: monotonicMs, budgetMs, tell });
  stack.push('shared rate limits', () => remote.close());
  return limiter;
};
