import { randomBytes } from 'node:crypto';
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
