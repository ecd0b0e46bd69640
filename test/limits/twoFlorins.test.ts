import { randomBytes } from 'node:crypto';
import { createClient as createRedisClient } from '@redis/client';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { spendAll } from '../api/rateLimitRun.ts';
import { createClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { startRedis } from '../support/redisServer.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';

/** So long that a busy machine does not look like a Redis that is gone. */
const limitBudgetMs = 20_000;

const startBoth = async () => {
  const redis = await startRedis();
  const shared = { FLORIN_MASTER_KEY: randomBytes(32).toString('hex'), REDIS_URL: redis.url };
  const first = await startTestFlorin({ env: shared, limitBudgetMs });
  const second = await startSecondFlorin(first.config.database!.url, shared, {}, silentLog, { limitBudgetMs });
  const other = await createClient(second.florin);
  atEndOfFile(other.close);
  return { redis, first, clients: [first.client, other] as const };
};

const ask = (client: TestFlorin['client'], key: string) => client.call('GET', '/v1/webhooks', { key });

test('two API processes together allow what one does, with the same headers', { tags: ['redis'] }, async () => {
  const { redis, first, clients } = await startBoth();
  // Each has its connection once it takes from the bucket of the other.
  const { keys } = await first.account({ plan: 'enterprise', rateLimit: 6_000, burst: 0 });
  await eventually(async () => {
    await ask(clients[0], keys.sandbox);
    const { headers } = await ask(clients[1], keys.sandbox);
    expect(Number(headers['x-ratelimit-remaining'])).toBeLessThan(5_999);
  });
  const rates = { perMinute: 60, burst: 10 };
  const counted = await first.account({ plan: 'sandbox' });
  let turn = 0;
  await spendAll(rates, () => ask(clients[turn++ % 2]!, counted.keys.sandbox));

  await redis.kill();
  const other = await first.account({ plan: 'sandbox' });
  const answers = await Promise.all(
    clients.flatMap(each => Array.from({ length: 30 }, () => ask(each, other.keys.sandbox))),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('the start says what is counted together, and Redis does not show who is counted', {
  tags: ['redis'],
}, async () => {
  const redis = await startRedis();
  const lines: string[] = [];
  const log = { ...silentLog, info: (_: object, message: string) => void lines.push(message) };
  const first = await startTestFlorin({ env: { REDIS_URL: redis.url }, log, limitBudgetMs });
  await eventually(() => expect(lines).toContainEqual(expect.stringMatching(/^rate limits are counted together with/)));
  const { id, keys } = await first.account();
  expect((await ask(first.client, 'no key')).status).toBe(401);
  expect((await ask(first.client, keys.sandbox)).status).toBe(200);
  const client = createRedisClient({ socket: { host: '127.0.0.1', port: redis.port } });
  await client.connect();
  atEndOfFile(() => client.destroy());
  const held = await client.keys('*');
  expect(held.length).toBeGreaterThanOrEqual(3);
  for (const key of held) expect(key).toMatch(/^florin:[0-9a-f]{16}:limit:[\w-]{22}$/);
  expect(held.join()).not.toContain(id);
});

test('without REDIS_URL, a start on a database server says that it counts alone', async () => {
  const lines: string[] = [];
  await startTestFlorin({ log: { ...silentLog, info: (_, message) => void lines.push(message) } });
  expect(lines).toContainEqual(
    expect.stringMatching(/^rate limits, connections and open pages are counted in this process/),
  );
});
