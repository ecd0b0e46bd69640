import { randomBytes } from 'node:crypto';
import { createClient as createRedisClient } from '@redis/client';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createRandom } from '../campaigns/fuzz/random.ts';
import {
  type Door,
  judge,
  planFaults,
  runFault,
  spend,
  type World,
} from '../campaigns/limitsFaults/limitsFaultsRun.ts';
import { scrape, seriesValue } from '../metrics/scrape.ts';
import { createClient, type TestClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin } from '../support/florin.ts';
import { startRedis } from '../support/redisServer.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';

/** So long that a busy machine does not look like a Redis that is gone. */
const limitBudgetMs = 1_000;

const doorOf = (florin: { metricsPort: number | null }, client: TestClient): Door => ({
  ask: async key => (await client.call('GET', '/v1/webhooks', { key })).status,
  async figures() {
    const families = await scrape(florin);
    const countedAlone = seriesValue(families, 'florin_limits_counted_alone_total')!;
    return { isShared: seriesValue(families, 'florin_limits_shared') === 1, countedAlone };
  },
});

const startWorld = async (): Promise<World> => {
  const redis = await startRedis();
  const env = {
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    FLORIN_METRICS_PORT: '0',
    REDIS_URL: redis.url,
  };
  const first = await startTestFlorin({ env, limitBudgetMs });
  const { florin } = await startSecondFlorin(first.config.database!.url, env, {}, silentLog, { limitBudgetMs });
  const other = await createClient(florin);
  atEndOfFile(other.close);
  const doors = [doorOf(first.florin, first.client), doorOf(florin, other)];
  const until = (isShared: boolean) => async (): Promise<void> => {
    for (const door of doors) {
      await eventually(async () => expect((await door.figures()).isShared).toBe(isShared));
    }
  };
  await until(true)();
  return {
    doors,
    redis: {
      ...redis,
      async empty() {
        const client = createRedisClient({ socket: { host: '127.0.0.1', port: redis.port } });
        await client.connect();
        await client.sendCommand(['FLUSHALL']);
        client.destroy();
      },
    },
    account: async ({ perMinute, burst }) => (await first.account({ rateLimit: perMinute, burst })).keys.sandbox,
    untilBack: until(true),
    away: until(false),
  };
};

/** `npm run limits-faults` in small, with more patience. */
test('two processes hold a limit together again after Redis was killed, stopped and emptied under load', {
  tags: ['redis', 'thorough'],
}, async () => {
  const world = await startWorld();
  const rate = { perMinute: 60, burst: 40 };
  expect(judge(rate, await spend(world.doors, await world.account(rate), 500))).toEqual([]);
  for (const fault of planFaults(3, createRandom('limits'))) expect(await runFault(world, fault)).toEqual([]);
});

test('the judge finds too many, too few and failed requests', () => {
  const rate = { perMinute: 60, burst: 40 };
  const spent = (...statuses: [number, number][]) => ({ statuses: new Map(statuses), elapsedMs: 2_000 });
  expect(judge(rate, spent([200, 103], [429, 50]))).toEqual([]);
  expect(judge(rate, spent([200, 104]))).toEqual(['104 accepted, 103.0 allowed']);
  expect(judge(rate, spent([200, 99]))).toEqual(['99 accepted of 100 that the bucket holds']);
  expect(judge(rate, spent([200, 100], [503, 2]))).toEqual(['2 × 503']);
});
