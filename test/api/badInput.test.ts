import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Target } from '../campaigns/fuzz/attack.ts';
import { createTally, runCorpus, showFailure } from '../campaigns/fuzz/runCorpus.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { rounds } from '../support/rounds.ts';

const seed = 1;
const requests = rounds(250, 1_500);

let scene: TestFlorin;
let account: TestAccount;
let target: Target;

const call = async (method: string, path: string, body?: object) => {
  const answer = await scene.client.call(method, path, { key: account.keys.sandbox, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  const payment = await call('POST', '/v1/payments', { amount: '1', currency: 'USDC', network: 'base' });
  await call('POST', `/v1/payments/${payment.id}/cancel`);
  const endpoint = await call('POST', '/v1/webhooks', { url: 'https://receiver.example/' });
  target = {
    port: Number(new URL(scene.florin.urls.sandbox).port),
    ca: await readFile(scene.florin.caPath!, 'utf8'),
    key: account.keys.sandbox,
    readOnlyKey: (await scene.key(account.id, 'sandbox', ['payments:read'])).key,
    productionKey: account.keys.production,
    paymentId: payment.id,
    endpointId: endpoint.id,
  };
});

const everything = async () => ({
  payments: await call('GET', '/v1/payments'),
  endpoints: await call('GET', '/v1/webhooks'),
  events: await call('GET', '/v1/events'),
  deliveries: await call('GET', `/v1/webhooks/${target.endpointId}/deliveries`),
});

test(`${requests} wrong requests are refused in one form and change nothing`, async () => {
  const before = await everything();
  const tally = createTally();
  await runCorpus({ seed, stalls: false, first: 0, last: requests, concurrency: 16 }, target, tally);
  expect(tally.failures.map(failure => showFailure(failure, target)).join('\n')).toBe('');
  expect(tally.passed).toBe(requests);
  expect(await everything()).toEqual(before);
  expect((await scene.client.call('GET', '/readyz')).status).toBe(200);
});
