import { beforeAll, expect, inject, test } from 'vitest';
import { type PaymentStatus, paymentStatuses } from '../../src/core/payment/states.ts';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { createSequence, type Wanted, type Written, writePayments } from './listingScene.ts';
import { type PaymentCalls, paymentCalls } from './paymentCalls.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.parse('2026-03-01T00:00:00.000Z');
const busyMs = startMs + 2 * dayMs + 9 * hourMs;
const tieMs = busyMs + 1_234_567;

let scene: TestFlorin;
let calls: PaymentCalls;
/** Newest first. */
let written: Written[];

/** Six days: most payments in one busy hour, some spread out, many at one instant, some at edges of hours and days. */
const plan = (): Wanted[] => {
  const next = createSequence(20_260_301);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const kinds = [
    { currency: 'USDC', network: 'base' },
    { currency: 'ETH', network: 'base' },
    { currency: 'USDC', network: 'bsc' },
    { currency: 'BNB', network: 'bsc' },
  ];
  const statuses: PaymentStatus[] = [...Array<PaymentStatus>(14).fill('pending'), ...paymentStatuses];
  const edges = [0, dayMs, 2 * dayMs, 3 * dayMs].flatMap(ms => [ms - 1, ms, ms + 1]);
  const instants = [
    ...Array.from({ length: 1_600 }, () => busyMs + Math.floor(next() * hourMs)),
    ...Array.from({ length: 1_200 }, () => startMs + Math.floor(next() * 6 * dayMs)),
    ...Array.from({ length: 60 }, () => tieMs),
    ...[...edges, ...edges.map(ms => ms + 7 * hourMs)].map(ms => startMs + ms),
  ];
  return instants.map(createdMs => ({ createdMs, ...pick(kinds), status: pick(statuses) }));
};

beforeAll(async () => {
  // The API role alone, so that only this test folds.
  scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
  const account = await scene.account();
  calls = paymentCalls(scene, account);
  written = (await writePayments(scene, account, plan())).reverse();
  // Payments of another account at the same times must never show.
  await writePayments(scene, await scene.account(), plan().slice(1_500, 1_700));
});

const filters: Partial<Pick<Wanted, 'status' | 'currency' | 'network'>>[] = [
  {},
  { status: 'pending' },
  { status: 'canceled' },
  { status: 'reversed' },
  { currency: 'USDC' },
  { currency: 'DAI' },
  { network: 'bsc' },
  { status: 'expired', currency: 'USDC' },
  { status: 'pending', network: 'base' },
  { currency: 'USDC', network: 'base' },
  { status: 'pending', currency: 'USDC', network: 'bsc' },
];

const at = (ms: number): string => new Date(startMs + ms).toISOString();
/** Queries with their meaning. */
const ranges: { query: string; fromMs?: number; toMs?: number }[] = [
  { query: '' },
  { query: `from=${at(dayMs + 123_456)}`, fromMs: startMs + dayMs + 123_456 },
  { query: `to=${at(3 * dayMs + 54_321_098)}`, toMs: startMs + 3 * dayMs + 54_321_098 },
  { query: 'from=2026-03-03', fromMs: startMs + 2 * dayMs },
  { query: 'from=2026-03-03&to=2026-03-03', fromMs: startMs + 2 * dayMs, toMs: startMs + 3 * dayMs - 1 },
  { query: 'from=2026-03-02&to=2026-03-04', fromMs: startMs + dayMs, toMs: startMs + 4 * dayMs - 1 },
  {
    query: `from=${new Date(busyMs).toISOString()}&to=${new Date(busyMs + hourMs - 1).toISOString()}`,
    fromMs: busyMs,
    toMs: busyMs + hourMs - 1,
  },
  {
    query: `from=${new Date(busyMs + 600_001).toISOString()}&to=${new Date(busyMs + 3_000_000).toISOString()}`,
    fromMs: busyMs + 600_001,
    toMs: busyMs + 3_000_000,
  },
  {
    query: `from=${at(4_321)}&to=${new Date(busyMs + 1_800_000).toISOString()}`,
    fromMs: startMs + 4_321,
    toMs: busyMs + 1_800_000,
  },
  {
    query: `from=${new Date(tieMs).toISOString()}&to=${new Date(tieMs).toISOString()}`,
    fromMs: tieMs,
    toMs: tieMs,
  },
  {
    query: `from=${at(3 * dayMs - 1)}&to=${at(3 * dayMs)}`,
    fromMs: startMs + 3 * dayMs - 1,
    toMs: startMs + 3 * dayMs,
  },
  { query: 'from=0001-01-01&to=9999-12-31' },
  { query: 'to=2026-02-27', toMs: startMs - 2 * dayMs },
  { query: 'from=2027-01-01', fromMs: startMs + 306 * dayMs },
];

const limit = 7;

/** Compares every combination with a plain filter, sort and slice. */
const compareAll = async (): Promise<void> => {
  const asked: Promise<void>[] = [];
  for (const filter of filters) {
    const entries = Object.entries(filter) as [keyof Wanted, string][];
    const matching = written.filter(each => entries.every(([name, value]) => each[name] === value));
    for (const { query, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } of ranges) {
      const expected = matching.filter(each => each.createdMs >= fromMs && each.createdMs <= toMs);
      const total = expected.length;
      const edges = [0, 1_000, total - limit, total];
      const others = inject('isThorough') ? [3, 999, 1_001, 1_337, 2_000, total - 1, total + 1] : [];
      const offsets = new Set([...edges, ...others]);
      const text = [...entries.map(([name, value]) => `${name}=${value}`), query].filter(part => part !== '').join('&');
      for (const offset of offsets) {
        if (offset < 0 || offset > total + 1) continue;
        asked.push(comparePage(`${text}&limit=${limit}&offset=${offset}`, expected, offset));
        if (asked.length >= 24) await Promise.all(asked.splice(0));
      }
    }
  }
  await Promise.all(asked);
};

const comparePage = async (query: string, expected: Written[], offset: number): Promise<void> => {
  const { status, text, json } = await calls.list(query);
  expect(status, `${query} ${text}`).toBe(200);
  const page = expected.slice(offset, offset + limit);
  const total = expected.length;
  expect(json.pagination, query).toEqual({ total, limit, offset, hasMore: offset + page.length < total });
  expect(
    json.data.map((payment: { id: string }) => payment.id),
    query,
  ).toEqual(page.map(each => each.id));
};

const deltas = { name: 'test-deltas', text: 'select count(*)::int as n from payment_deltas' };
const unfolded = async (): Promise<number> => (await scene.admin.db.query<{ n: number }>(deltas))[0]!.n;

test('before anything is folded, every answer is the plain truth', async () => {
  expect(written.length).toBeGreaterThan(2_800);
  expect(await unfolded()).toBeGreaterThan(500);
  await compareAll();
});

test('half folded, too', { tags: ['thorough'] }, async () => {
  const before = await unfolded();
  await foldTotals(scene.admin.db, Math.floor(before / 2));
  expect(await unfolded()).toBe(before - Math.floor(before / 2));
  await compareAll();
});

test('and all folded', { tags: ['thorough'] }, async () => {
  await foldTotals(scene.admin.db, 1_000_000);
  expect(await unfolded()).toBe(0);
  await compareAll();
});

test('the largest page at the deepest offset is in order and complete', async () => {
  const offset = written.length - 100;
  const { data, pagination } = (await calls.list(`limit=100&offset=${offset}`)).json;
  expect(data.map((payment: { id: string }) => payment.id)).toEqual(written.slice(offset).map(each => each.id));
  expect(pagination.hasMore).toBe(false);
});

test('what was written agrees with what is stored', async () => {
  const stored = await scene.admin.db.query<{ n: number; s: string }>({
    name: 'test-stored',
    text: `select count(*)::int as n, status as s from payments where account_id = (select account_id from payments
      where id = '${written[0]!.id}') group by status order by status`,
  });
  expect(stored).toEqual(
    paymentStatuses.map(s => ({ s, n: written.filter(each => each.status === s).length })).filter(({ n }) => n > 0),
  );
});
