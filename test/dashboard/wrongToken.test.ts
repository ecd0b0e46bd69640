import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { owner } = scene;
const read = (id: string) => owner.do('GET /payments/:id', { params: { id } });
const strayed = async (more: Record<string, string> = {}) => {
  const { data, pagination } = await owner.do('GET /payments', { query: { exception: 'wrong_token', ...more } });
  return [data.map(({ id }) => id), pagination.total];
};
const attention = async () => (await owner.do('GET /home')).attention;

const sendWrong = async (id: string): Promise<void> => {
  await owner.do('POST /payments/:id/simulate', { params: { id }, body: { outcome: 'wrong_token' } });
  await until(
    () => read(id),
    ({ strays }) => strays.length > 0,
  );
};

test('a payment that got another token is in the filter, the file and the figures, and says what came', async () => {
  await scene.paid();
  expect([await strayed(), await attention()]).toEqual([[[], 0], []]);
  const wrong = await scene.make({ amount: '12' });
  await sendWrong(wrong.id);
  const { payment, strays } = await read(wrong.id);
  expect(payment.status).toBe('pending');
  expect(strays).toEqual([
    {
      amount: expect.stringMatching(/^1\.00 [A-Z]+$/),
      name: strays[0]!.name,
      network: 'Base (local dev chain)',
      isOtherNetwork: false,
      contract: strays[0]!.contract,
      txHash: expect.stringMatching(/^0x/),
      explorerUrl: null,
    },
  ]);
  expect(await strayed()).toEqual([[wrong.id], 1]);
  expect(await strayed({ status: 'pending', network: 'base' })).toEqual([[wrong.id], 1]);
  expect(await strayed({ status: 'completed' })).toEqual([[], 0]);
  expect(await strayed({ search: wrong.id })).toEqual([[wrong.id], 1]);
  expect(await strayed({ to: '2020-01-01' })).toEqual([[], 0]);
  expect(await attention()).toEqual([{ status: 'pending', exception: 'wrong_token', count: 1 }]);
  const file = await owner.call('GET /payments.csv', { query: { exception: 'wrong_token' } });
  expect(file.text.trim().split('\r\n').slice(1)).toEqual([expect.stringContaining(wrong.id)]);
});

test('once the payment is paid it needs nobody, and still says what came', async () => {
  const paid = await scene.make({ amount: '13' });
  await sendWrong(paid.id);
  await scene.simulate(paid.id, 'paid', 'completed');
  expect((await attention()).find(({ status }) => status === 'completed')).toBeUndefined();
  expect((await strayed({ status: 'completed' }))[0]).toEqual([paid.id]);
});

test('money that a reorg took is not said to be there', async () => {
  const payment = await scene.make({ amount: '14' });
  const before = await scene.chain.snapshot();
  await sendWrong(payment.id);
  expect((await strayed())[0]).toContain(payment.id);
  await scene.chain.revert(before);
  await scene.chain.mine(3);
  await until(
    () => read(payment.id),
    ({ strays }) => strays.length === 0,
  );
  expect((await strayed())[0]).not.toContain(payment.id);
  const file = await owner.call('GET /payments.csv', { query: { exception: 'wrong_token' } });
  expect(file.text).not.toContain(payment.id);
});

test('another account sees none of it', async () => {
  const stranger = await scene.dashboard.newPerson('owner', (await scene.dashboard.scene.account()).id);
  expect((await stranger.do('GET /payments', { query: { exception: 'wrong_token' } })).data).toEqual([]);
  expect((await stranger.do('GET /home')).attention).toEqual([]);
});
