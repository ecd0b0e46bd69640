import { expect, test } from 'vitest';
import { readPayments, readPaymentVersions } from '../../src/storage/payments/payments.ts';
import { startPaymentScene } from '../api/paymentCalls.ts';

const { account, calls, scene } = await startPaymentScene();

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

test.each([readPayments, readPaymentVersions])('a question about no payment does not reach the database', async ask => {
  const closed = { query: () => Promise.reject(new Error('the database was asked')) };
  expect(await ask(closed, [])).toEqual([]);
});
