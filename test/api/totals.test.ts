import { expect, test } from 'vitest';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { paymentCalls, startPaymentScene } from './paymentCalls.ts';

const { account, calls, scene } = await startPaymentScene();

const totalOf = async (query = ''): Promise<number> => (await calls.list(query)).json.pagination.total;

/** If a page and its total are from the same moment, the page has exactly as many rows as the total implies. */
const expectSameMoment = (answer: Answer): void => {
  expect(answer.status, answer.text).toBe(200);
  const { data, pagination } = answer.json;
  const { total, limit, offset, hasMore } = pagination;
  expect(data).toHaveLength(Math.max(0, Math.min(limit, total - offset)));
  expect(hasMore).toBe(offset + data.length < total);
};

test('totals are exact while payments are created, canceled, folded and listed at once', async () => {
  const queries = ['limit=100', 'status=pending&limit=100', 'status=canceled&limit=100', 'network=bsc&limit=100'];
  const kinds = [
    { network: 'base', currency: 'USDC' },
    { network: 'bsc', currency: 'BNB' },
    { network: 'bsc', currency: 'USDC' },
  ];
  let working = true;
  let listed = 0;
  const watch = async (): Promise<void> => {
    while (working) {
      expectSameMoment(await calls.list(queries[listed++ % queries.length]));
    }
  };
  const fold = async (): Promise<void> => {
    while (working) await foldTotals(scene.admin.db, 7);
  };
  const work = async (worker: number): Promise<{ created: string[]; canceled: string[] }> => {
    const done = { created: [] as string[], canceled: [] as string[] };
    for (let i = 0; i < 15; i++) {
      const { id } = await calls.made(kinds[(worker + i) % kinds.length]);
      done.created.push(id);
      if (i % 3 === 0) {
        expect((await calls.act(id, 'cancel')).status).toBe(200);
        done.canceled.push(id);
      }
    }
    return done;
  };
  const watching = [watch(), watch(), fold()];
  const results = await Promise.all(Array.from({ length: 6 }, (_, worker) => work(worker))).finally(() => {
    working = false;
  });
  await Promise.all(watching);
  const canceled = results.flatMap(result => result.canceled);
  expect(listed).toBeGreaterThan(0);

  const check = async (): Promise<void> => {
    expect(await totalOf()).toBe(90);
    expect(await totalOf('status=canceled')).toBe(canceled.length);
    expect(await totalOf('status=pending')).toBe(90 - canceled.length);
    expect(await totalOf('status=expired')).toBe(0);
    expect(await totalOf('network=base')).toBe(30);
    expect(await totalOf('network=bsc')).toBe(60);
    expect(await totalOf('network=bsc&currency=usdc')).toBe(30);
    expect(await totalOf('currency=USDC')).toBe(60);
    expect(await totalOf('currency=BNB&network=base')).toBe(0);
  };
  await check();
  await until(
    () => foldTotals(scene.admin.db, 1_000),
    folded => folded === 0,
  );
  await check();
  const left = await scene.admin.db.query({ name: 'test-left', text: 'select id from payment_deltas' });
  expect(left).toEqual([]);
});

test('a total counts neither another account nor the other environment', async () => {
  const before = await totalOf();
  const other = paymentCalls(scene, await scene.account());
  await other.made();
  expect(await totalOf()).toBe(before);
  expect((await other.list()).json.pagination.total).toBe(1);
  const live = await paymentCalls(scene, account, 'production').list();
  expect(live.json).toEqual({ data: [], pagination: { total: 0, limit: 20, offset: 0, hasMore: false } });
});

test('a refused creation counts nothing', async () => {
  await calls.made({ externalId: 'once' });
  const before = await totalOf();
  const again = { amount: '1', currency: 'USDC', network: 'base', externalId: 'once' };
  const answers = await Promise.all([
    calls.create(again),
    calls.create({ ...again, amount: '0' }),
    calls.create(again),
  ]);
  expect(answers.map(answer => answer.status)).toEqual([409, 400, 409]);
  expect(await totalOf()).toBe(before);
});

test('an expired payment moves from one total to the other', async () => {
  const [pending, expired] = [await totalOf('status=pending'), await totalOf('status=expired')];
  const { id } = await calls.made({ expiresIn: 1 });
  await until(
    () => calls.read(id),
    answer => answer.json.status === 'expired',
  );
  expect(await totalOf('status=pending')).toBe(pending);
  expect(await totalOf('status=expired')).toBe(expired + 1);
});
