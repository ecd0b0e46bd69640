import { expect, test } from 'vitest';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import { until } from '../support/until.ts';
import { expectRefused, startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { dashboard, owner } = scene;
const { db } = dashboard.scene.admin;

const home = (days?: number) => owner.do('GET /home', { query: days === undefined ? {} : { days } });
const today = () => new Date().toISOString().slice(0, 10);

const fold = async (limit: number): Promise<void> => {
  while ((await foldTotals(db, limit)) === limit);
};

/** Sums over the payments themselves, without totals. */
const plainVolumes = () =>
  scene.sql<{ currency: string; network: string; sum: string; count: number }>(
    `select currency, network, sum(amount_confirmed)::text as sum, count(*)::int as count from payments
      where status = 'completed' group by 1, 2 order by 1, 2`,
  );

const shownVolumes = async () =>
  (await home()).volumes.map(({ currency, network, total, count }) => ({ currency, network, total, count }));

test('an account in which nothing happened has days of nothing', async () => {
  const empty = await home(7);
  expect(empty.days).toHaveLength(7);
  expect(empty.days.at(-1)).toBe(today());
  expect(empty).toMatchObject({
    volumes: [],
    conversion: { created: Array(7).fill(0), completed: Array(7).fill(0) },
    speed: { detectP50: null, detectP95: null, completeP50: null, completeP95: null, sample: 0 },
    webhooks: { endpoints: [], callbacks: { succeeded: 0, retrying: 0, waiting: 0, parked: 0, failedAttempts: 0 } },
    openNow: 0,
    attention: [],
  });
  expect(empty.networks.find(({ slug }) => slug === 'base')).toMatchObject({ status: 'operational', lagSeconds: 0 });
});

test('sums and counts are exact before, between and after folding, to the last unit', async () => {
  // A float would be wrong for 0.1 + 0.2 and for eighteen decimals.
  await scene.paid({ amount: '0.1' });
  await scene.paid({ amount: '0.2' });
  await scene.paid({ amount: '123456789.000000000000000001', currency: 'DAI' });
  await scene.make();
  const over = await scene.make({ amount: '10', network: 'polygon' });
  await scene.simulate(over.id, 'overpaid', 'completed');
  const expected = [
    { currency: 'DAI', network: 'base', total: '123456789.000000000000000001', count: 1 },
    { currency: 'USDC', network: 'base', total: '0.30', count: 2 },
    { currency: 'USDC', network: 'polygon', total: '11.000001', count: 1 },
  ];
  expect(await shownVolumes()).toEqual(expected);
  await foldTotals(db, 2);
  expect(await shownVolumes()).toEqual(expected);
  await fold(1_000);
  expect(await shownVolumes()).toEqual(expected);
  expect(await plainVolumes()).toEqual([
    { currency: 'DAI', network: 'base', sum: '123456789000000000000000001', count: 1 },
    { currency: 'USDC', network: 'base', sum: '300000', count: 2 },
    { currency: 'USDC', network: 'polygon', sum: '11000001', count: 1 },
  ]);

  const { volumes, conversion, openNow, speed, days } = await home(2);
  expect(days).toHaveLength(2);
  // All on one day, or on two if the test runs at midnight.
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  for (const { perDay, total } of volumes) expect(sum(perDay.map(Number))).toBeCloseTo(Number(total), 6);
  expect([sum(conversion.created), sum(conversion.completed)]).toEqual([5, 4]);
  expect(openNow).toBe(1);
  expect(speed.sample).toBe(4);
  expect(speed.detectP50).toBeGreaterThanOrEqual(0);
  expect(speed.completeP95!).toBeGreaterThanOrEqual(speed.completeP50!);
  expect(speed.completeP50!).toBeGreaterThanOrEqual(speed.detectP50!);
  expect(speed.completeP95!).toBeGreaterThanOrEqual(speed.detectP95!);
});

test('no payment is completed before it is detected, however late it was detected', async () => {
  // Older blocks make detection slow. Completion would look faster if it were measured from the detection on.
  await db.script(`set session_replication_role = replica; update blocks set timestamp = timestamp - interval '1 hour';
    set session_replication_role = origin`);
  const { speed } = await home();
  expect(speed.sample).toBe(4);
  expect(speed.detectP50!).toBeGreaterThan(3_600_000 - 60_000);
  expect(speed.completeP50!).toBeGreaterThanOrEqual(speed.detectP50!);
  expect(speed.completeP95!).toBeGreaterThanOrEqual(speed.detectP95!);
});

test('a reversal takes its sum back, and a second completion brings it again', async () => {
  const before = await shownVolumes();
  const payment = await scene.paid({ amount: '7', currency: 'USDT' });
  const own = { currency: 'USDT', network: 'base' };
  expect(await shownVolumes()).toContainEqual({ ...own, total: '7.00', count: 1 });
  await scene.simulate(payment.id, 'reorg', 'reversed');
  expect(await shownVolumes()).toEqual(before);
  await fold(1_000);
  expect(await shownVolumes()).toEqual(before);
  expect((await home()).attention).toContainEqual({ status: 'reversed', exception: 'reorged', count: 1 });
  await scene.simulate(payment.id, 'paid', 'completed');
  expect(await shownVolumes()).toContainEqual({ ...own, total: '7.00', count: 1 });
  expect((await home()).attention).toEqual([]);
});

test('more money for a completed payment counts, without another payment', async () => {
  const payment = await scene.paid({ amount: '5', network: 'avalanche' });
  const own = { currency: 'USDC', network: 'avalanche', count: 1 };
  expect(await shownVolumes()).toContainEqual({ ...own, total: '5.00' });
  await owner.do('POST /payments/:id/simulate', { params: { id: payment.id }, body: { outcome: 'paid' } });
  await until(shownVolumes, volumes => volumes.some(({ total }) => total === '10.00'));
  expect(await shownVolumes()).toContainEqual({ ...own, total: '10.00' });
});

test('payments that somebody should look at are counted by where they stand', async () => {
  const under = await scene.make({ amount: '9' });
  await owner.do('POST /payments/:id/simulate', { params: { id: under.id }, body: { outcome: 'underpaid' } });
  await until(home, ({ attention }) => attention.length > 0);
  expect((await home()).attention).toEqual([{ status: 'pending', exception: 'underpaid', count: 1 }]);
  await fold(1_000);
  expect((await home()).attention).toEqual([{ status: 'pending', exception: 'underpaid', count: 1 }]);
  await owner.do('POST /payments/:id/resolve', { params: { id: under.id }, body: { expectedAmount: '4.50' } });
  await scene.reach(under.id, 'completed');
  expect((await home()).attention).toEqual([]);
});

test('another account and the other environment see none of it', async () => {
  expect((await owner.do('GET /home', { environment: 'production' })).volumes).toEqual([]);
  const stranger = await dashboard.newPerson('viewer', (await dashboard.scene.account()).id);
  const theirs = await stranger.do('GET /home');
  expect(theirs.volumes).toEqual([]);
  expect(theirs.conversion.created.every(count => count === 0)).toBe(true);
});

test('a range that is none is refused', async () => {
  for (const days of ['0', '367', '1.5', '-1', 'x', '9999999999']) {
    await expectRefused(owner.call('GET /home', { query: { days } }), 400, 'invalid_request', 'days');
  }
});

test('the way to production is a list of what is done and what is not', async () => {
  const { steps, ready } = await owner.do('GET /go-live');
  expect(ready).toBe(false);
  expect(steps.map(({ key, done }) => [key, done])).toEqual([
    ['secondFactor', false],
    ['wallet', false],
    ['webhook', false],
    ['https', false],
    ['network', false],
    ['liveKey', true],
  ]);
  await owner.prove();
  const treasury = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const { wallet } = await owner.do('POST /wallets', {
    environment: 'production',
    body: { network: 'base', treasury },
  });
  const stepOf = async (name: string) => (await owner.do('GET /go-live')).steps.find(({ key }) => key === name);
  expect(await stepOf('wallet')).toMatchObject({ done: false });
  await owner.do('POST /wallets/:network/verify', {
    environment: 'production',
    params: { network: 'base' },
    body: { version: wallet!.version },
  });
  await db.script(`update people set totp_secret = '\\x01' where id = '${owner.personId}';
    update api_keys set revoked_at = now() where account_id = '${dashboard.accountId}' and environment = 'production'`);
  const changed = (await owner.do('GET /go-live')).steps;
  expect(changed.find(({ key }) => key === 'wallet')).toMatchObject({ done: true });
  expect(changed.find(({ key }) => key === 'secondFactor')).toMatchObject({ done: true });
  expect(changed.find(({ key }) => key === 'liveKey')).toMatchObject({ done: false });
});
