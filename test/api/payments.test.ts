import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';

let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
});
afterAll(() => scene.stop());

test('a payment can be created, read and listed', async () => {
  const body = { amount: '25', currency: 'usdc', network: 'base' };
  const created = await scene.client.call('POST', '/v1/payments', { key: account.keys.sandbox, body });
  expect(created.status, created.text).toBe(200);
  const read = await scene.client.call('GET', `/v1/payments/${created.json.id}`, { key: account.keys.sandbox });
  expect(read.json).toEqual(created.json);
  const list = await scene.client.call('GET', '/v1/payments', { key: account.keys.sandbox });
  expect(list.json).toEqual({ data: [created.json], pagination: { total: 1, limit: 20, offset: 0, hasMore: false } });
});
