import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey } from '../support/operator.ts';
import { send } from '../support/send.ts';
import { expectError, ordinary } from './paymentCalls.ts';
import { startWebhookReceiver } from './webhookReceiver.ts';

// 127.0.0.1 is the trusted proxy; ::1 is not.
let scene: TestFlorin;
let account: TestAccount;
let ca: string;
let port: string;
/** A key valid from 203.0.113.7 only: it shows which client address Florin used. */
let listed: string;
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' } });
  account = await scene.account();
  ca = await readFile(scene.florin.caPath!, 'utf8');
  port = new URL(scene.florin.urls.sandbox).port;
  const request = {
    accountId: account.id,
    environment: 'sandbox',
    name: '',
    scopes: permissions,
    expiresAt: null,
  } as const;
  listed = (await createKey(scene.admin, { ...request, ipAllow: ['203.0.113.7/32', '2001:db8::7/128'] })).key;
});

const via = (peer: 'proxy' | 'stranger', headers: Record<string, string>, scheme = 'https') =>
  send(`${scheme}://${peer === 'proxy' ? '127.0.0.1' : '[::1]'}:${port}`, 'GET', '/v1/payments', {
    ca,
    key: listed,
    headers,
  });

describe('X-Forwarded-For through a trusted proxy: the right-most hop that is not trusted is the client', () => {
  test.each([
    ['203.0.113.7', 200],
    ['198.51.100.1, 203.0.113.7', 200],
    ['203.0.113.7, 10.1.2.3', 200],
    ['198.51.100.1,203.0.113.7 , 10.1.2.3,127.0.0.1', 200],
    ['2001:db8::7', 200],
    ['2001:DB8:0:0::7', 200],
    ['::ffff:203.0.113.7', 200],
    ['198.51.100.1', 403],
    ['203.0.113.7, 198.51.100.1', 403],
    ['203.0.113.7, 198.51.100.1, 10.1.2.3', 403],
    ['203.0.113.7, nonsense', 403],
    ['203.0.113.7, unknown, 10.1.2.3', 403],
    ['10.1.2.3', 403],
    ['', 403],
  ])('%j → %i', async (header, status) => {
    const answer = await via('proxy', { 'x-forwarded-for': header });
    if (status === 200) expect(answer.status, answer.text).toBe(200);
    else expectError(answer, 403, 'permission_denied');
  });

  test('without the header the proxy itself is the client', async () => {
    expectError(await via('proxy', {}), 403, 'permission_denied');
  });
});

test('headers of somebody else count for nothing', async () => {
  expectError(await via('stranger', { 'x-forwarded-for': '203.0.113.7' }), 403, 'permission_denied');
  const proto = { 'x-forwarded-proto': 'http', 'x-forwarded-for': '203.0.113.7' };
  const answer = await send(`https://[::1]:${port}`, 'GET', '/v1/payments', {
    ca,
    key: account.keys.sandbox,
    headers: proto,
  });
  expect(answer.status, answer.text).toBe(200);
  for (const name of ['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']) {
    expect((await via('proxy', { [name]: '203.0.113.7' })).status, name).toBe(403);
  }
});

describe('X-Forwarded-Proto through a trusted proxy', () => {
  test.each(['http', 'HTTP', 'http, https', 'https, http', 'ws'])('%j is 403 https_required over TLS', async proto => {
    const headers = { 'x-forwarded-proto': proto };
    const before = await scene.client.call('GET', '/v1/payments', { key: account.keys.sandbox });
    const base = `https://127.0.0.1:${port}`;
    const refused = await send(base, 'POST', '/v1/payments', {
      ca,
      key: account.keys.sandbox,
      headers,
      body: ordinary,
    });
    expectError(refused, 403, 'https_required');
    const after = await scene.client.call('GET', '/v1/payments', { key: account.keys.sandbox });
    expect(after.json.pagination.total).toBe(before.json.pagination.total);
  });

  test.each(['https', 'HTTPS', 'https, https'])('%j is served over TLS', async proto => {
    expect((await via('proxy', { 'x-forwarded-proto': proto, 'x-forwarded-for': '203.0.113.7' })).status).toBe(200);
  });
});

describe('a trusted proxy that ends TLS and speaks plain HTTP to us', () => {
  const base = () => `http://127.0.0.1:${port}`;
  const key = () => account.keys.sandbox;

  test('is served when it says that its client used https', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };
    const made = await send(base(), 'POST', '/v1/payments', { key: key(), headers, body: ordinary });
    expect(made.status, made.text).toBe(200);
    expect(made.json.checkoutUrl).toMatch(/^https:/);
    expect(made.headers['x-ratelimit-limit']).toBeDefined();
    expect((await via('proxy', headers, 'http')).status, 'the client address counts as well').toBe(200);
    expect((await via('proxy', { 'x-forwarded-proto': 'https' }, 'http')).status).toBe(403);
    expectError(await send(base(), 'GET', '/v1/payments/none', { key: key(), headers }), 404, 'not_found');
  });

  test('may keep its connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'x-forwarded-proto': 'https' };
    const ask = () =>
      new Promise<{ status: number; reused: boolean }>((resolve, reject) => {
        const sent = request(`${base()}/v1/networks`, { agent, headers }, incoming => {
          incoming.resume().once('end', () => resolve({ status: incoming.statusCode!, reused: sent.reusedSocket }));
        });
        sent.once('error', reject).end();
      });
    try {
      expect(await ask()).toEqual({ status: 200, reused: false });
      expect(await ask()).toEqual({ status: 200, reused: true });
    } finally {
      agent.destroy();
    }
  });

  test.each([{}, { 'x-forwarded-proto': 'http' }, { 'x-forwarded-proto': '' }, { 'x-forwarded-proto': 'https, http' }])(
    'is refused with %j',
    async headers => {
      const hook = { url: `https://plain-${JSON.stringify(headers).length}.example` };
      expectError(
        await send(base(), 'POST', '/v1/webhooks', { key: key(), headers, body: hook }),
        403,
        'https_required',
      );
      const listing = await scene.client.call('GET', '/v1/webhooks', { key: key() });
      expect(listing.text).not.toContain(hook.url);
    },
  );

  test('somebody else who says so is refused', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    expectError(
      await send(`http://[::1]:${port}`, 'GET', '/v1/payments', { key: key(), headers }),
      403,
      'https_required',
    );
    expectError(await send(`http://[::1]:${port}`, 'GET', '/v1/networks', { headers }), 403, 'https_required');
  });

  test('its running request finishes when Florin stops', async () => {
    const own = await startTestFlorin({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1' } });
    const receiver = await startWebhookReceiver();
    try {
      const { keys } = await own.account();
      const at = `http://127.0.0.1:${new URL(own.florin.urls.sandbox).port}`;
      const sending = { key: keys.sandbox, headers: { 'x-forwarded-proto': 'https' } };
      const { id } = (await send(at, 'POST', '/v1/webhooks', { ...sending, body: { url: receiver.url } })).json;
      const arrived = Promise.withResolvers<() => void>();
      receiver.answer = response => arrived.resolve(() => response.end());
      const running = send(at, 'POST', `/v1/webhooks/${id}/test`, sending);
      const release = await arrived.promise;
      const stopped = own.florin.stop();
      release();
      const answer = await running;
      expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
      expect(answer.json.delivered).toBe(true);
      await stopped;
    } finally {
      await own.stop();
      await receiver.close();
    }
  });
});
