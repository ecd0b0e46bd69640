import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import type { RateLimiter } from '../core/tokenBucket.ts';
import { createLocalLimiter } from '../limits/localLimiter.ts';
import { type BucketKeys, openRedisBuckets } from '../limits/redisBuckets.ts';
import { createSharedLimiter, type RemoteBuckets } from '../limits/sharedLimiter.ts';
import type { Vault } from '../vault/vault.ts';
import { monotonicMs } from './compose.ts';
import type { Config } from './config.ts';
import type { Stack } from './stack.ts';

type Parts = {
  readonly vault: Vault;
  /** Those of the supervisor of this process, if it has one. */
  readonly buckets: RemoteBuckets | undefined;
  readonly log: Log;
  readonly meter: Meter;
  readonly stack: Stack;
  readonly budgetMs: number | undefined;
};

/** A start waits this long for the first answer, so that its first requests are already counted together. */
const firstAnswerMs = 1_000;
const toldAgainMs = 60_000;

/** Several deployments may use one server. */
export const bucketKeysOf = (vault: Vault): BucketKeys => {
  const prefix = `florin:${vault.deploymentName()}:limit:`;
  return subject => prefix + vault.limitSubject(subject);
};

const redisTexts = {
  together: 'rate limits are counted together with other processes; connections and open pages in this process alone',
  alone: 'rate limits are counted in this process alone: REDIS_URL does not answer in time',
};
const supervisorTexts = {
  together: 'rate limits are counted together with the other processes of this machine',
  alone: 'rate limits are counted in this process alone: its supervisor does not answer in time',
};
const apartText =
  'rate limits, connections and open pages are counted in this process alone; with REDIS_URL, several processes count rate limits together';

/** At most once a minute it is told that requests are counted alone, then also when they no longer are. */
const createTeller = (log: Log, texts: typeof redisTexts, nowMs: () => number) => {
  let told: boolean | null = null;
  // What is not connected yet is no trouble.
  let quietUntilMs = nowMs() + firstAnswerMs;
  return (isShared: boolean, cause: unknown): void => {
    if (isShared === told) return;
    if (isShared) {
      log.info({}, told === null ? texts.together : 'rate limits are counted together again');
    } else if (nowMs() < quietUntilMs) return;
    else {
      quietUntilMs = nowMs() + toldAgainMs;
      log.error({ err: cause }, texts.alone);
    }
    told = isShared;
  };
};

/** The buckets of this process, or those that all API processes share: in Redis, or else in their supervisor. */
export const startLimits = async ({ redis, database }: Config, parts: Parts): Promise<RateLimiter> => {
  const { vault, buckets, log, meter, stack, budgetMs } = parts;
  const local = createLocalLimiter(monotonicMs);
  const remote = redis === null ? buckets : openRedisBuckets(redis, bucketKeysOf(vault));
  if (remote === undefined) {
    // Several processes need a database server.
    if (database !== null) log.info({}, apartText);
    return local;
  }
  const report = createTeller(log, redis === null ? supervisorTexts : redisTexts, monotonicMs);
  const first = Promise.withResolvers<void>();
  meter.limitsShared(false);
  const limiter = createSharedLimiter({
    remote,
    local,
    nowMs: monotonicMs,
    budgetMs,
    countedAlone: meter.limitCountedAlone,
    tell(isShared, cause) {
      meter.limitsShared(isShared);
      report(isShared, cause);
      if (isShared) first.resolve();
    },
  });
  stack.push('shared rate limits', limiter.close);
  await Promise.race([first.promise, pause(firstAnswerMs, undefined, { ref: false })]);
  return limiter;
};
