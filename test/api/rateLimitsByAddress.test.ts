import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey } from '../support/operator.ts';
import type { Answer } from '../support/send.ts';
import { expectError } from './paymentCalls.ts';
import { spend } from './spendLimit.ts';

// Through a trusted proxy on loopback, each case has its own client address.
let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } });
  account = await scene.account();
});

const from = (address: string, path: string, key?: string) =>
  scene.client.call('GET', path, { ...(key ? { key } : {}), headers: { 'x-forwarded-for': address } });

const expectRefusal = (answer: Answer): void => {
  expectError(answer, 429, 'rate_limit_exceeded');
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
};

describe('failed authentication', () => {
  test('60 a minute from an address are 401; past that 429, for failing requests only', async () => {
    const startedMs = performance.now();
    const { passed, refused, elapsedSeconds } = await spend(60, () =>
      from('198.51.100.1', '/v1/payments', 'sk_test_no'),
    );
    expect(passed.length).toBeGreaterThanOrEqual(60);
    expect(passed.length).toBeLessThanOrEqual(60 + elapsedSeconds + 1);
    expect(new Set(passed.map(answer => answer.status))).toEqual(new Set([401]));
    expectRefusal(refused);

    // A valid key still passes, and does not reset the failures.
    for (let i = 0; i < 5; i++)
      expect((await from('198.51.100.1', '/v1/payments', account.keys.sandbox)).status).toBe(200);
    // All kinds of failure count together: only what was refilled meanwhile passes.
    const more = await spend(60, () => from('198.51.100.1', '/v1/webhooks'));
    expect(more.passed.length).toBeLessThanOrEqual((performance.now() - startedMs) / 1_000 + 1);
    expect((await from('198.51.100.2', '/v1/payments')).status, 'another address').toBe(401);
    expect((await from('198.51.100.1', '/v1/networks')).status, 'public routes').toBe(200);
  });

  test('an IPv6 client is its /64', async () => {
    let host = 0;
    const { refused } = await spend(60, () => from(`2001:db8:1:2::${(++host).toString(16)}`, '/v1/payments'));
    expectRefusal(refused);
    expect((await from('2001:db8:1:3::1', '/v1/payments')).status).toBe(401);
  });

  test('a key refused for its address counts as failed, and never against its account', async () => {
    // Five per minute: almost nothing is refilled during the test.
    const { id, keys } = await scene.account({ rateLimit: 5, burst: 0 });
    const { key } = await createKey(scene.admin, {
      accountId: id,
      environment: 'sandbox',
      name: 'office',
      scopes: permissions,
      ipAllow: ['198.51.100.9'],
      expiresAt: null,
    });
    const { passed, refused, elapsedSeconds } = await spend(60, () => from('198.51.100.10', '/v1/payments', key));
    expect(passed.length).toBeGreaterThanOrEqual(60);
    expect(passed.length).toBeLessThanOrEqual(60 + elapsedSeconds + 1);
    for (const answer of passed) expectError(answer, 403, 'permission_denied');
    expect(passed.filter(({ headers }) => 'x-ratelimit-limit' in headers)).toEqual([]);
    expectRefusal(refused);
    // It shares its count with requests without a key.
    const more = await spend(60, () => from('198.51.100.10', '/v1/payments'));
    expect(more.passed.length).toBeLessThanOrEqual(elapsedSeconds + more.elapsedSeconds + 1);

    expect((await from('198.51.100.10', '/v1/payments', account.keys.sandbox)).status, 'another key').toBe(200);
    const allowed = await from('198.51.100.9', '/v1/payments', key);
    expect([allowed.status, allowed.headers['x-ratelimit-remaining']]).toEqual([200, '4']);
    expect((await from('198.51.100.10', '/v1/payments', keys.sandbox)).headers['x-ratelimit-remaining']).toBe('3');
  });

  test('a key that lacks permission is no failed authentication', async () => {
    const { key } = await scene.key(account.id, 'sandbox', ['payments:read']);
    for (let i = 0; i < 70; i++) expect((await from('198.51.100.3', '/v1/webhooks', key)).status).toBe(403);
  });
});

describe('public routes', () => {
  test('600 a minute from an address', async () => {
    const { passed, refused, elapsedSeconds } = await spend(600, () => from('198.51.100.4', '/v1/networks/base'));
    expect(passed.length).toBeGreaterThanOrEqual(600);
    expect(passed.length).toBeLessThanOrEqual(600 + 10 * elapsedSeconds + 1);
    expect(new Set(passed.map(answer => answer.status))).toEqual(new Set([200]));
    expectRefusal(refused);
    expect((await from('198.51.100.5', '/v1/networks')).status, 'another address').toBe(200);
    expect((await from('198.51.100.4', '/v1/networks', account.keys.sandbox)).status, 'a valid key').toBe(200);
    expect((await from('198.51.100.4', '/healthz')).status, 'probes are not limited').toBe(200);
  });

  test('probes of a load balancer do not count, however many', { tags: ['thorough'] }, async () => {
    for (let i = 0; i < 1_300; i += 100) {
      const path = i % 200 === 0 ? '/healthz' : '/readyz';
      const answers = await Promise.all(Array.from({ length: 100 }, () => from('198.51.100.11', path)));
      expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]));
    }
    expect((await from('198.51.100.11', '/v1/networks')).status).toBe(200);
  });

  test('a valid key sent along is counted as the account’s and gets its headers', async () => {
    // Five per minute: almost nothing is refilled during the test.
    const { keys } = await scene.account({ rateLimit: 5, burst: 0 });
    const first = await from('198.51.100.6', '/v1/networks', keys.sandbox);
    expect([first.status, first.headers['x-ratelimit-limit']]).toEqual([200, '5']);
    expect(first.headers['x-ratelimit-remaining']).toBe('4');
    expect(first.headers['x-ratelimit-reset']).toMatch(/^\d{10}$/);
    const second = await from('198.51.100.6', '/v1/networks/base', keys.sandbox);
    expect(second.headers['x-ratelimit-remaining']).toBe('3');
    expect((await from('198.51.100.6', '/v1/payments', keys.sandbox)).headers['x-ratelimit-remaining']).toBe('2');
  });

  test.each([
    ['none', undefined],
    ['a malformed one', 'sk_test_x'],
    ['one of the other environment', 'live'],
  ])('an invalid key is ignored: %s', async (_name, given) => {
    const key = given === 'live' ? account.keys.production : given;
    const answer = await from('198.51.100.7', '/v1/networks', key);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter(name => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  test('an invalid key on a public route is no failed authentication', async () => {
    for (let i = 0; i < 70; i++) await from('198.51.100.8', '/v1/networks/base', 'sk_test_x');
    expect((await from('198.51.100.8', '/v1/payments')).status).toBe(401);
  });
});
