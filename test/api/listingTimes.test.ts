import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { type Written, writePayments } from './listingScene.ts';
import { expectInvalid, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

const times = [
  '2026-01-30T23:59:59.999Z',
  '2026-01-31T00:00:00.000Z',
  '2026-01-31T00:00:00.001Z',
  '2026-01-31T11:59:59.999Z',
  '2026-01-31T12:00:00.000Z',
  '2026-01-31T12:00:00.001Z',
  '2026-01-31T12:30:15.250Z',
  '2026-01-31T23:59:59.999Z',
  '2026-02-01T00:00:00.000Z',
];
const [before, dayStart, afterDayStart, beforeNoon, noon, afterNoon, half, dayEnd, nextDay] = times as [
  string, string, string, string, string, string, string, string, string,
]; // biome-ignore format: one list

let scene: TestFlorin;
let calls: PaymentCalls;
let written: Written[];
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
  const account = await scene.account();
  calls = paymentCalls(scene, account);
  const kind = { currency: 'ETH', network: 'base', status: 'pending' } as const;
  written = await writePayments(
    scene,
    account,
    times.map(time => ({ ...kind, createdMs: Date.parse(time) })),
  );
});

const listed = async (query: string): Promise<string[]> => {
  const { status, text, json } = await calls.list(query);
  expect(status, text).toBe(200);
  const found: string[] = json.data.map((payment: { createdAt: string }) => payment.createdAt);
  expect(json.pagination.total).toBe(found.length);
  return found.reverse();
};

const zone = (text: string): string => encodeURIComponent(text);

describe('from and to are inclusive to the millisecond', () => {
  test('each alone', async () => {
    expect(await listed(`from=${noon}`)).toEqual([noon, afterNoon, half, dayEnd, nextDay]);
    expect(await listed(`from=${afterNoon}`)).toEqual([afterNoon, half, dayEnd, nextDay]);
    expect(await listed(`to=${noon}`)).toEqual([before, dayStart, afterDayStart, beforeNoon, noon]);
    expect(await listed(`to=${beforeNoon}`)).toEqual([before, dayStart, afterDayStart, beforeNoon]);
  });

  test('both, and equal', async () => {
    expect(await listed(`from=${beforeNoon}&to=${afterNoon}`)).toEqual([beforeNoon, noon, afterNoon]);
    for (const time of times) expect(await listed(`from=${time}&to=${time}`)).toEqual([time]);
    expect(await listed('from=2026-01-31T12:00:00.002Z&to=2026-01-31T12:00:00.002Z')).toEqual([]);
  });

  test('digits past the millisecond let nothing in that is outside', async () => {
    expect(await listed(`from=2026-01-31T12:00:00.0001Z&to=${half}`)).toEqual([afterNoon, half]);
    expect(await listed(`from=2026-01-31T12:00:00.000000000Z&to=${afterNoon}`)).toEqual([noon, afterNoon]);
    expect(await listed(`from=${noon}&to=2026-01-31T12:00:00.0009Z`)).toEqual([noon]);
  });
});

describe('a bare date', () => {
  const wholeDay = [dayStart, afterDayStart, beforeNoon, noon, afterNoon, half, dayEnd];

  test('is its whole UTC day', async () => {
    expect(await listed('from=2026-01-31&to=2026-01-31')).toEqual(wholeDay);
    expect(await listed('from=2026-01-31')).toEqual([...wholeDay, nextDay]);
    expect(await listed('to=2026-01-31')).toEqual([before, ...wholeDay]);
    expect(await listed('from=2026-01-30&to=2026-01-30')).toEqual([before]);
    expect(await listed('from=2026-02-01&to=2026-02-01')).toEqual([nextDay]);
  });

  test('mixes with a time on the same day', async () => {
    expect(await listed(`from=${half}&to=2026-01-31`)).toEqual([half, dayEnd]);
    expect(await listed(`from=2026-01-31&to=${afterDayStart}`)).toEqual([dayStart, afterDayStart]);
  });
});

describe('offsets from UTC', () => {
  test('none means UTC', async () => {
    expect(await listed('from=2026-01-31T12:00:00.000&to=2026-01-31T12:00:00.001')).toEqual([noon, afterNoon]);
    expect(await listed('from=2026-01-31T12:00&to=2026-01-31T12:00')).toEqual([noon]);
    expect(await listed('from=2026-01-31T12:00:00&to=2026-01-31T12:00:00')).toEqual([noon]);
  });

  test.each([
    ['2026-01-31T13:00:00+01:00', noon],
    ['2026-01-31T07:00:00-05:00', noon],
    ['2026-01-31T17:30:00+05:30', noon],
    ['2026-02-01T02:00:00+14:00', noon],
    ['2026-01-30T19:00:00.001-05:00', afterDayStart],
    ['2026-01-31T01:00:00+01:00', dayStart],
    ['2026-01-31T12:00:00z', noon],
    ['2026-01-31T13:00:00+0100', noon],
  ])('%s is %s', async (text, time) => {
    expect(await listed(`from=${zone(text)}&to=${zone(text)}`)).toEqual([time]);
  });
});

describe('from and to that are refused', () => {
  const values = [
    '2026-02-30', '2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-32', '2026-04-31',
    '2026-01-31T25:00:00Z', '2026-01-31T24:00:01Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:60Z',
    '2026-01-31T12:00:00+25:00', '2026-01-31T12:00:00.Z', '2026-01-31T', '2026-01-31T12', '2026-1-31', '20260131',
    '31-01-2026', '01/31/2026', 'yesterday', 'now', '1769860800', '2026', '2026-01', 'NaN', '2026-01-31T12:00:00Zz',
  ]; // biome-ignore format: one list
  test.each(values)('%s', async value => {
    expectInvalid(await calls.list(`from=${value}`), 'from');
    expectInvalid(await calls.list(`to=${value}`), 'to');
  });

  test('from later than to, by a millisecond, by a day, and across offsets', async () => {
    expectInvalid(await calls.list(`from=${afterNoon}&to=${noon}`), 'from');
    expectInvalid(await calls.list('from=2026-02-01&to=2026-01-31'), 'from');
    const later = zone('2026-01-31T12:00:00+00:00');
    expectInvalid(await calls.list(`from=${later}&to=${zone('2026-01-31T12:00:00+01:00')}`), 'from');
  });
});

test('a leap day is a day', async () => {
  expect(await listed('from=2024-02-29&to=2024-02-29')).toEqual([]);
});

test('the ends of the calendar are no fault', async () => {
  expect(await listed('from=0001-01-01')).toEqual(times);
  expect(await listed('to=9999-12-31')).toEqual(times);
  expect(await listed('from=9999-12-31')).toEqual([]);
  expect(await listed('to=1969-12-31')).toEqual([]);
  expect(await listed('from=0001-01-01&to=9999-12-31T23:59:59.999Z')).toEqual(times);
});

test('payments of one millisecond are told apart by id, greatest first', async () => {
  const account = await scene.account();
  const createdMs = Date.parse(half);
  const kind = { currency: 'ETH', network: 'base', status: 'pending', createdMs } as const;
  const tied = await writePayments(scene, account, Array(5).fill(kind));
  const { data } = (await paymentCalls(scene, account).list()).json;
  const ids = tied.map(each => each.id);
  expect(data.map((payment: { id: string }) => payment.id)).toEqual([...ids].sort().reverse());
  expect(written).toHaveLength(times.length);
});
