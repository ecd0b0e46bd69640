import { beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { spendAll } from './rateLimitRun.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const ask = (key: string, environment: Environment = 'sandbox', path = '/v1/webhooks') =>
  scene.client.call('GET', path, { key, environment });
const limitsOf = async (key: string, environment: Environment) => {
  const { headers } = await ask(key, environment);
  return [Number(headers['x-ratelimit-limit']), Number(headers['x-ratelimit-remaining'])];
};

describe('plans', () => {
  test('Sandbox keys: 60 a minute and a burst of 10, so 70 at once and then 429', async () => {
    const { keys } = await scene.account({ plan: 'starter' });
    const allowed = await spendAll({ perMinute: 60, burst: 10 }, () => ask(keys.sandbox));
    expect(allowed).toBeGreaterThanOrEqual(70);
    // The other environment has a bucket of its own.
    expect(await limitsOf(keys.production, 'production')).toEqual([120, 119]);
    // One may have come back meanwhile, but not all.
    expect((await limitsOf(keys.sandbox, 'sandbox'))[1]).toBeLessThan(10);
  });

  test('Starter live keys: 120 and a burst of 20', async () => {
    const { keys } = await scene.account({ plan: 'starter' });
    await spendAll({ perMinute: 120, burst: 20 }, () => ask(keys.production, 'production'));
    expect(await limitsOf(keys.sandbox, 'sandbox')).toEqual([60, 59]);
  });

  test('Growth live keys: 300 and a burst of 50', async () => {
    const { keys } = await scene.account({ plan: 'growth' });
    await spendAll({ perMinute: 300, burst: 50 }, () => ask(keys.production, 'production'));
    expect(await limitsOf(keys.sandbox, 'sandbox')).toEqual([60, 59]);
  });

  test('an account on the Sandbox plan has its figures for live keys too', async () => {
    const { keys } = await scene.account({ plan: 'sandbox' });
    await spendAll({ perMinute: 60, burst: 10 }, () => ask(keys.production, 'production'));
  });

  test.each(['sandbox', 'production'] as const)('Enterprise figures of its own hold in %s', async environment => {
    const { keys } = await scene.account({ plan: 'enterprise', rateLimit: 7, burst: 3 });
    await spendAll({ perMinute: 7, burst: 3 }, () => ask(keys[environment], environment));
  });

  test('Enterprise without figures of its own has 6,000 in both environments', async () => {
    const { id } = await createAccount(scene.admin, { name: 'E', plan: 'enterprise', rateLimit: null, burst: null });
    for (const environment of ['sandbox', 'production'] as const) {
      const { key } = await scene.key(id, environment);
      expect(await limitsOf(key, environment)).toEqual([6_000, 5_999]);
    }
  });
});

describe('the bucket', () => {
  test('belongs to the account: more keys do not buy more requests', async () => {
    const account = await scene.account({ plan: 'starter' });
    const keys = [account.keys.sandbox];
    for (let i = 0; i < 4; i++) keys.push((await scene.key(account.id, 'sandbox')).key);
    let turn = 0;
    await spendAll({ perMinute: 60, burst: 10 }, () => ask(keys[turn++ % keys.length]!));
    const another = await scene.key(account.id, 'sandbox');
    expect((await ask(another.key)).status).toBe(429);
    const stranger = await scene.account({ plan: 'starter' });
    expect((await ask(stranger.keys.sandbox)).status).toBe(200);
  });

  test('fills again while nobody asks', async () => {
    const { keys } = await scene.account({ plan: 'enterprise', rateLimit: 60, burst: 0 });
    await spendAll({ perMinute: 60, burst: 0 }, () => ask(keys.sandbox));
    const again = await until(
      () => ask(keys.sandbox),
      answer => answer.status === 200,
    );
    expect(again.headers['x-ratelimit-remaining']).toBe('0');
  });

  test('holds for requests sent all at once', async () => {
    const { keys } = await scene.account({ plan: 'starter' });
    const startedMs = Date.now();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(keys.sandbox)));
    const allowed = answers.filter(answer => answer.status === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(70);
    expect(allowed).toBeLessThanOrEqual(71 + (Date.now() - startedMs) / 1_000);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  });

  test('a refused request executes nothing', async () => {
    const account = await scene.account({ plan: 'enterprise', rateLimit: 1, burst: 0 });
    await ask(account.keys.sandbox);
    const body = { amount: '1', currency: 'USDC', network: 'base' };
    const refused = await scene.client.call('POST', '/v1/payments', { key: account.keys.sandbox, body });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(30);
    const [row] = await scene.admin.db.query<{ n: number }>(
      { name: 'test-count', text: 'select count(*)::int as n from payments where account_id = $1' },
      [account.id],
    );
    expect(row!.n).toBe(0);
  });
});

test('errors carry the headers and are counted', async () => {
  const account = await scene.account({ rateLimit: 12, burst: 0 });
  const reader = await scene.key(account.id, 'sandbox', ['payments:read']);
  const key = account.keys.sandbox;
  const none = `pay_${'0'.repeat(26)}`;
  const failing: [number, () => ReturnType<typeof ask>][] = [
    [404, () => ask(key, 'sandbox', `/v1/payments/${none}`)],
    [400, () => ask(key, 'sandbox', '/v1/payments?limit=0')],
    [400, () => scene.client.call('POST', '/v1/payments', { key, body: '{' })],
    [
      415,
      () => scene.client.call('POST', '/v1/payments', { key, body: 'x', headers: { 'content-type': 'text/plain' } }),
    ],
    [413, () => scene.client.call('POST', '/v1/payments', { key, body: ' '.repeat(70_000) })],
    [403, () => ask(reader.key)],
    [404, () => ask(key, 'sandbox', '/v1/nothing')],
    [405, () => scene.client.call('PATCH', '/v1/payments', { key })],
  ];
  let expected = 11;
  for (const [status, call] of failing) {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    expect(answer.headers['x-ratelimit-limit'], `${status}`).toBe('12');
    const remaining = Number(answer.headers['x-ratelimit-remaining']);
    // One token is refilled every five seconds.
    expect([expected, expected + 1], `${status}`).toContain(remaining);
    expect(answer.headers['x-ratelimit-reset']).toMatch(/^\d{10}$/);
    expected = remaining - 1;
  }
});
