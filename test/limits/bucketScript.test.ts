import { createClient } from '@redis/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bucket, fullBucket, takeToken } from '../../src/core/tokenBucket.ts';
import { bucketScript } from '../../src/limits/bucketScript.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startRedis } from '../support/redisServer.ts';

type Answer = { readonly allowed: boolean; readonly tokens: number; readonly nowMs: number };

const open = async () => {
  const { port } = await startRedis();
  const client = createClient({ socket: { host: '127.0.0.1', port }, RESP: 2 });
  await client.connect();
  atEndOfFile(() => client.destroy());
  const take = async (key: string, { perMinute, burst }: { perMinute: number; burst: number }): Promise<Answer> => {
    const answer = await client.eval(bucketScript, { keys: [key], arguments: [`${perMinute}`, `${burst}`] });
    const [allowed, tokens, nowMs] = answer as [number, string, number];
    return { allowed: allowed === 1, tokens: Number(tokens), nowMs };
  };
  return { client, take };
};

test('decides as the bucket in memory does, at the times of the server', { tags: ['redis'] }, async () => {
  const { take } = await open();
  const rates = fc.record({ perMinute: fc.integer({ min: 1, max: 600_000 }), burst: fc.integer({ min: 0, max: 50 }) });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(rates, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 80 }),
      async (all, times) => {
        const key = `bucket ${++run}`;
        let bucket: Bucket | null = null;
        for (let i = 0; i < times; i++) {
          // A plan may change while a bucket is in use.
          const rate = all[i % all.length]!;
          const answer = await take(key, rate);
          bucket ??= fullBucket(rate, answer.nowMs);
          const expected = takeToken(bucket, rate, answer.nowMs);
          expect(answer.allowed).toBe(expected.allowed);
          expect(answer.tokens).toBeCloseTo(bucket.tokens, 9);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a bucket is forgotten once it is full again, and not before', { tags: ['redis'] }, async () => {
  const { client, take } = await open();
  await take('slow', { perMinute: 60, burst: 0 });
  const restMs = await client.pTTL('slow');
  // One token is missing, which is a second; another second is to spare.
  expect(restMs).toBeGreaterThan(1_000);
  expect(restMs).toBeLessThanOrEqual(2_000);
});
