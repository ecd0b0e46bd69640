import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { owner } = scene;
const read = (id: string) => owner.do('GET /payments/:id', { params: { id } });

/** What the page offers is what the server does: each act is tried, and refused exactly where it is not offered. */
const expectTrue = async (id: string, allows: { cancel: boolean; resolve: boolean }): Promise<void> => {
  expect((await read(id)).allows).toEqual(allows);
  const params = { id };
  if (!allows.cancel) expect((await owner.call('POST /payments/:id/cancel', { params })).status).toBe(409);
  if (allows.resolve) return;
  const body = { expectedAmount: '1.00' };
  expect((await owner.call('POST /payments/:id/resolve', { params, body })).status).toBe(409);
};

test('cancel and accept are offered exactly where they work', async () => {
  const fresh = await scene.make({ amount: '3' });
  await expectTrue(fresh.id, { cancel: true, resolve: false });

  const under = await scene.make({ amount: '8' });
  const params = { id: under.id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'underpaid' } });
  await until(
    () => read(under.id),
    ({ payment }) => payment.exception === 'underpaid',
  );
  expect((await read(under.id)).payment.status).toBe('pending');
  await expectTrue(under.id, { cancel: false, resolve: true });

  await owner.do('POST /payments/:id/cancel', { params: { id: fresh.id } });
  await expectTrue(fresh.id, { cancel: false, resolve: false });

  const paid = await scene.paid({ amount: '5' });
  await expectTrue(paid.id, { cancel: false, resolve: false });
});

test('a payment to which only another token came can be canceled', async () => {
  const payment = await scene.make({ amount: '4' });
  const params = { id: payment.id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'wrong_token' } });
  await until(
    () => read(payment.id),
    ({ strays }) => strays.length > 0,
  );
  expect((await read(payment.id)).allows).toEqual({ cancel: true, resolve: false });
  expect(await owner.do('POST /payments/:id/cancel', { params })).toMatchObject({ status: 'canceled' });
});

test('a treasury is called swept to once something went there', async () => {
  const payment = await scene.paid({ amount: '9', currency: 'DAI' });
  expect(await read(payment.id)).toMatchObject({ isSwept: false, treasury: expect.stringMatching(/^0x/) });
  const { transactions } = await scene.plan({ network: 'base', currency: 'DAI' });
  await scene.chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
  await until(
    () => read(payment.id),
    ({ isSwept }) => isSwept,
  );
});
