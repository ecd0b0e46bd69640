import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { type Answer, sendRaw } from '../support/send.ts';
import { spend } from './spendLimit.ts';

let scene: TestFlorin;
let account: TestAccount;
let ca: string;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  ca = await readFile(scene.florin.caPath!, 'utf8');
});

const expectHeaders = (answer: Pick<Answer, 'status' | 'headers'>, status: number): void => {
  const { 'x-content-type-options': sniff, 'cache-control': cache } = answer.headers;
  expect([answer.status, sniff, cache]).toEqual([status, 'nosniff', 'no-store']);
};

const large = 'x'.repeat(70_000);
test.each<[number, string, string, object]>([
  [200, 'GET', '/v1/networks', {}],
  [404, 'GET', '/v1/networks/nowhere', {}],
  [200, 'GET', '/v1/payments', { isSigned: true }],
  [200, 'POST', '/v1/payments', { isSigned: true, body: { amount: '1', currency: 'USDC', network: 'base' } }],
  [400, 'POST', '/v1/payments', { isSigned: true, body: {} }],
  [401, 'GET', '/v1/payments', {}],
  [404, 'GET', '/v1/payments/pay_none', { isSigned: true }],
  [404, 'GET', '/v1/nothing', {}],
  [404, 'GET', '/v1', {}],
  [400, 'GET', '/v1/%zz', {}],
  [405, 'DELETE', '/v1/payments', { isSigned: true }],
  [413, 'POST', '/v1/payments', { isSigned: true, body: { description: large } }],
  [415, 'POST', '/v1/payments', { isSigned: true, body: 'x', headers: { 'content-type': 'text/plain' } }],
])(
  '%s of %s %s may be neither stored nor guessed',
  async (status, method, path, {
    isSigned = false,
    ...rest
  }: object & {
    isSigned?: boolean;
  }) => {
    const key = isSigned ? { key: account.keys.sandbox } : {};
    expectHeaders(await scene.client.call(method, path, { ...key, ...rest }), status);
  },
);

test('429 has the headers too', async () => {
  const { keys } = await scene.account({ rateLimit: 5, burst: 0 });
  const { refused } = await spend(5, () => scene.client.call('GET', '/v1/payments', { key: keys.sandbox }));
  expectHeaders(refused, 429);
});

test('so have what the listener refuses by itself, and what comes without TLS', async () => {
  const answer = await sendRaw(scene.florin.urls.sandbox, ca, 'GET /v1/payments HTTP/1.1\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/\r\nCache-Control: no-store\r\n/);
  expect(answer).toMatch(/\r\nX-Content-Type-Options: nosniff\r\n/);
  const { port } = new URL(scene.florin.urls.sandbox);
  const plain = await new Promise<Pick<Answer, 'status' | 'headers'>>((resolve, reject) => {
    const sent = requestHttp({ port, host: '127.0.0.1', path: '/v1/networks', agent: false }, incoming => {
      incoming.resume();
      resolve({ status: incoming.statusCode!, headers: incoming.headers });
    });
    sent.once('error', reject).end();
  });
  expectHeaders(plain, 403);
});
