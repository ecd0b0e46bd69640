import { createHash } from 'node:crypto';
import { codeOf, errorWith } from '../core/errorCode.ts';
import type { RateLimit } from '../core/plans.ts';
import { decisionOf, type RateDecision } from '../core/tokenBucket.ts';
import { bucketScript } from './bucketScript.ts';
import { codeOfReply, isRefusal, keepRedisOpen, openRedis, type RedisClient } from './redisConnection.ts';
import type { RedisServer } from './redisUrl.ts';
import type { RemoteBuckets } from './sharedLimiter.ts';

/** The key of a bucket. It does not show the subject, which may be the address of a client. */
export type BucketKeys = (subject: string) => string;

const sha1 = createHash('sha1').update(bucketScript).digest('hex');

const takeFrom = async (client: RedisClient, key: string, rate: RateLimit): Promise<RateDecision> => {
  const asked = { keys: [key], arguments: [String(rate.perMinute), String(rate.burst)] };
  const answer = await client.evalSha(sha1, asked).catch(error => {
    // The server was started anew, or its scripts were removed.
    if (codeOfReply(error) !== 'NOSCRIPT') throw error;
    return client.eval(bucketScript, asked);
  });
  const [allowed, tokens, nowMs] = answer as [number, string, number];
  return decisionOf({ tokens: Number(tokens) }, rate, nowMs, allowed === 1);
};

/** Buckets in Redis or Valkey. */
export const openRedisBuckets = (server: RedisServer, keyOf: BucketKeys): RemoteBuckets => {
  const connection = keepRedisOpen(server);
  /** A server that sentinels have replaced accepts no writes. */
  const isUseless = (error: unknown): boolean =>
    isRefusal(error) || (server.sentinel !== null && codeOfReply(error) === 'READONLY');
  return {
    async take(subject, rate) {
      try {
        return await takeFrom(connection.client(), keyOf(subject), rate);
      } catch (error) {
        if (isUseless(error)) connection.drop(error as Error);
        throw error;
      }
    },
    reconnect: () => connection.drop(errorWith('ETIMEDOUT', 'the server does not answer')),
    close: connection.close,
  };
};

/** Takes one token. Returns the code of the error that hinders it, or null. */
export const askRedis = async (server: RedisServer, keyOf: BucketKeys, patienceMs = 3_000): Promise<string | null> => {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(errorWith('ETIMEDOUT', 'no answer in time')), patienceMs);
  let problem: string | null = null;
  try {
    for (const turn of server.hosts.keys()) {
      try {
        const client = await openRedis(server, turn, giveUp.signal);
        giveUp.signal.addEventListener('abort', () => client.destroy());
        await takeFrom(client, keyOf('doctor'), { perMinute: 60, burst: 0 }).finally(() => client.destroy());
        return null;
      } catch (error) {
        problem = codeOfReply(error) || codeOf(error) || 'no answer in time';
      }
    }
    return problem;
  } finally {
    clearTimeout(timer);
  }
};
