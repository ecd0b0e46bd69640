import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Environment, environments } from '../../src/core/environment.ts';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { send } from '../support/send.ts';
import { expectError, ordinary, paymentCalls } from './paymentCalls.ts';

const env = { FLORIN_MASTER_KEY: 'e2'.repeat(32) };
let scene: TestFlorin;
let account: TestAccount;
let ca: string;
beforeAll(async () => {
  scene = await startTestFlorin({ env });
  account = await scene.account();
  ca = await readFile(scene.florin.caPath!, 'utf8');
});

const as = (environment: Environment) => ({ key: account.keys[environment], environment });
const countOf = async (environment: Environment, path: string): Promise<number> =>
  (await scene.client.call('GET', path, as(environment))).json.pagination.total;

describe('one environment does not see the other', () => {
  test('payments', async () => {
    const payment = await paymentCalls(scene, account).made();
    expect(payment.environment).toBe('sandbox');
    expect(payment.checkoutUrl).toBe(`${scene.florin.urls.sandbox}/checkout/${payment.id}`);
    expectError(await paymentCalls(scene, account, 'production').read(payment.id), 404, 'not_found');
    expect(await countOf('production', '/v1/payments')).toBe(0);
    expect(await countOf('sandbox', '/v1/payments')).toBe(1);
  });

  test('webhook endpoints', async () => {
    for (const environment of environments) {
      const body = { url: 'https://merchant.example' };
      const { id } = (await scene.client.call('POST', '/v1/webhooks', { ...as(environment), body })).json;
      const other = environment === 'sandbox' ? 'production' : 'sandbox';
      expectError(await scene.client.call('GET', `/v1/webhooks/${id}`, as(other)), 404, 'not_found');
      expectError(await scene.client.call('DELETE', `/v1/webhooks/${id}`, as(other)), 404, 'not_found');
      expect((await scene.client.call('GET', `/v1/webhooks/${id}`, as(environment))).status).toBe(200);
    }
    for (const environment of environments) expect(await countOf(environment, '/v1/webhooks')).toBe(1);
  });

  test('Idempotency-Keys', async () => {
    const answers = await Promise.all(
      environments.map(environment => {
        const headers = { 'idempotency-key': 'both' };
        const body = { url: `https://${environment}.example` };
        return scene.client.call('POST', '/v1/webhooks', { ...as(environment), body, headers });
      }),
    );
    expect(answers.map(answer => [answer.status, answer.headers['idempotent-replayed']])).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
  });

  test('nor keys: each is 401 at the other’s address', async () => {
    for (const environment of environments) {
      const other = environment === 'sandbox' ? 'production' : 'sandbox';
      const answer = await scene.client.call('GET', '/v1/payments', {
        key: account.keys[environment],
        environment: other,
      });
      expectError(answer, 401, 'unauthorized');
      expect(answer.json.error.message).toContain(scene.florin.urls[environment]);
    }
  });
});

describe.each(environments)('plain HTTP at the port of %s', environment => {
  const plain = () => scene.florin.urls[environment].replace('https:', 'http:');
  test.each(['GET', 'POST', 'DELETE', 'OPTIONS'])('%s is 403 https_required, whatever the key', async method => {
    for (const path of ['/v1/payments', '/v1/networks', '/healthz', '/nothing', '/']) {
      const answer = await send(plain(), method, path, { key: account.keys[environment] });
      expectError(answer, 403, 'https_required');
      expect(answer.headers.location).toBeUndefined();
      expect(answer.headers['strict-transport-security']).toBeUndefined();
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    }
  });

  test('executes nothing', async () => {
    const before = await countOf(environment, '/v1/payments');
    const headers = { 'x-forwarded-proto': 'https', 'idempotency-key': 'plain' };
    const sending = { key: account.keys[environment], headers };
    expectError(await send(plain(), 'POST', '/v1/payments', { ...sending, body: ordinary }), 403, 'https_required');
    const hook = { ...sending, body: { url: 'https://plain.example' } };
    expectError(await send(plain(), 'POST', '/v1/webhooks', hook), 403, 'https_required');
    expect(await countOf(environment, '/v1/payments')).toBe(before);
    const { data } = (await scene.client.call('GET', '/v1/webhooks', as(environment))).json;
    expect(data.map((each: { url: string }) => each.url)).not.toContain('https://plain.example');
  });
});

test('on loopback names nothing asks browsers to remember HTTPS', async () => {
  for (const environment of environments) {
    for (const path of ['/v1/networks', '/healthz', '/docs', '/v1/payments']) {
      const { headers } = await scene.client.call('GET', path, { environment });
      expect(headers['strict-transport-security'], path).toBeUndefined();
    }
  }
});

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

describe('both environments on one port', () => {
  let room: string;
  let tls: Record<string, string>;
  beforeAll(async () => {
    room = await mkdtemp(join(tmpdir(), 'florin-test-'));
    const { cert, key } = await ensureLocalCertificates({ dataDir: room });
    tls = { FLORIN_TLS_CERT: join(room, 'cert.pem'), FLORIN_TLS_KEY: join(room, 'key.pem') };
    await writeFile(tls.FLORIN_TLS_CERT!, cert);
    await writeFile(tls.FLORIN_TLS_KEY!, key, { mode: 0o600 });
    ca = await readFile(join(room, 'tls', 'ca.pem'), 'utf8');
  });

  const start = async (urlOf: (port: number) => Record<Environment, string>) => {
    const port = await freePort();
    const urls = urlOf(port);
    const shared = { FLORIN_PORT: `${port}`, FLORIN_SANDBOX_PORT: `${port}`, FLORIN_HOST: '127.0.0.1' };
    const names = { FLORIN_PUBLIC_URL: urls.production, FLORIN_SANDBOX_PUBLIC_URL: urls.sandbox };
    const second = await startSecondFlorin(scene.config.database!.url, { ...env, ...shared, ...names, ...tls });
    return { ...second, port };
  };

  test('the Host header decides, on loopback names', async () => {
    const second = await start(port => ({
      production: `https://localhost:${port}`,
      sandbox: `https://127.0.0.1:${port}`,
    }));
    try {
      for (const environment of environments) {
        const { key } = as(environment);
        const url = second.florin.urls[environment];
        const networks = await send(url, 'GET', '/v1/networks', { ca });
        expect(networks.json.data[0].environment).toBe(environment);
        expect(networks.headers['strict-transport-security']).toBeUndefined();
        expect((await send(url, 'GET', '/v1/payments', { ca, key })).status).toBe(200);
        const other = second.florin.urls[environment === 'sandbox' ? 'production' : 'sandbox'];
        const refused = await send(other, 'GET', '/v1/payments', { ca, key });
        expectError(refused, 401, 'unauthorized');
        expect(refused.json.error.message).toContain(url);
      }
    } finally {
      await second.stop();
    }
  });

  test('on public names browsers are told to stay with HTTPS, and loopback receivers are refused', async () => {
    const second = await start(() => ({ production: 'https://pay.example', sandbox: 'https://sandbox.pay.example' }));
    const base = `https://localhost:${second.port}`;
    const at = (host: string, method: string, path: string, key?: string, body?: unknown) =>
      send(base, method, path, { ca, headers: { host }, ...(key ? { key } : {}), body });
    try {
      for (const [host, environment] of [
        ['pay.example', 'production'],
        ['sandbox.pay.example', 'sandbox'],
        ['SANDBOX.pay.EXAMPLE', 'sandbox'],
        ['sandbox.pay.example:443', 'sandbox'],
      ] as const) {
        const answer = await at(host, 'GET', '/v1/networks');
        expect(answer.json.data[0].environment, host).toBe(environment);
        expect(answer.headers['strict-transport-security'], host).toMatch(/^max-age=[1-9]\d+/);
        expect((await at(host, 'GET', '/v1/payments', account.keys[environment])).status, host).toBe(200);
      }
      for (const host of ['other.example', `localhost:${second.port}`, 'pay.example:444', 'sandbox.pay.example.evil']) {
        for (const path of ['/v1/payments', '/v1/networks', '/healthz']) {
          expectError(await at(host, 'GET', path, account.keys.production), 400, 'invalid_request');
        }
      }
      const body = { url: 'http://127.0.0.1:9/' };
      const hook = await at('sandbox.pay.example', 'POST', '/v1/webhooks', account.keys.sandbox, body);
      expectError(hook, 400, 'invalid_request', 'url');
      const refused = await at('pay.example', 'GET', '/v1/payments', account.keys.sandbox);
      expect(refused.json.error.message).toContain('https://sandbox.pay.example');
    } finally {
      await second.stop();
    }
  });
});
