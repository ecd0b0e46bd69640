import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';

let scene: TestFlorin;
let account: TestAccount;
let calls: PaymentCalls;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  calls = paymentCalls(scene, account);
});
afterAll(() => scene.stop());

const read = (id: string) => scene.client.call('GET', `/v1/payments/${id}`, { key: account.keys.sandbox });

test.each([
  ['short enough to be kept', 10],
  ['too long to be kept', 16_000],
])('a payment %s reads the same again and again, and its change is seen at once', async (_name, length) => {
  const created = await calls.made({ metadata: { text: 'x'.repeat(length) } });
  for (let i = 0; i < 3; i++) expect((await read(created.id)).json).toEqual(created);
  const canceled = (await calls.act(created.id, 'cancel')).json;
  expect(canceled.status).toBe('canceled');
  for (let i = 0; i < 3; i++) expect((await read(created.id)).json).toEqual(canceled);
});
