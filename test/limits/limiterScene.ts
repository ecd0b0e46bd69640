import { createHash } from 'node:crypto';
import { codeOf } from '../../src/core/errorCode.ts';
import type { RateLimit } from '../../src/core/plans.ts';
import { createLocalLimiter } from '../../src/limits/localLimiter.ts';
import { type BucketKeys, openRedisBuckets } from '../../src/limits/redisBuckets.ts';
import { codeOfReply } from '../../src/limits/redisConnection.ts';
import { type RedisServer, readRedisUrl } from '../../src/limits/redisUrl.ts';
import { createSharedLimiter } from '../../src/limits/sharedLimiter.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

const nowMs = (): number => performance.now();

/** So long that a busy machine does not look like a server that is gone. */
const patientMs = 20_000;

/** So slow that no token comes back during a test. */
export const slow: RateLimit = { perMinute: 1, burst: 9 };

export const keysOf =
  (deployment: string): BucketKeys =>
  subject =>
    `florin:${deployment}:${createHash('sha256').update(subject).digest('hex')}`;

/** As one API process has it. */
export const openLimiter = (url: string, { deployment = 'one', budgetMs = patientMs } = {}) => {
  const told: boolean[] = [];
  const causes: string[] = [];
  let countedAlone = 0;
  const first = Promise.withResolvers<void>();
  const limiter = createSharedLimiter({
    remote: openRedisBuckets(readRedisUrl(url) as RedisServer, keysOf(deployment)),
    local: createLocalLimiter(nowMs),
    nowMs,
    budgetMs,
    countedAlone() {
      countedAlone += 1;
    },
    tell(isShared, cause) {
      if (isShared) first.resolve();
      else causes.push(codeOfReply(cause) || codeOf(cause));
      if (told.at(-1) !== isShared) told.push(isShared);
    },
  });
  atEndOfFile(limiter.close);
  return { ...limiter, told, causes, ready: first.promise, countedAlone: () => countedAlone };
};

export const connected = async (url: string, options = {}) => {
  const limiter = openLimiter(url, options);
  await limiter.ready;
  // While the connection was opened.
  limiter.told.length = 0;
  limiter.causes.length = 0;
  return limiter;
};

export const accepted = (decisions: readonly { allowed: boolean }[]): number =>
  decisions.filter(({ allowed }) => allowed).length;

export const takeTimes = (limiter: ReturnType<typeof openLimiter>, times: number, subject = 'a') =>
  Promise.all(Array.from({ length: times }, () => limiter.take(subject, slow)));
