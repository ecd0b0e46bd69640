import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { expectInvalid, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let account: TestAccount;
let calls: PaymentCalls;
/** Newest first, as listed. */
let all: Answer['json'][];
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  calls = paymentCalls(scene, account);
  const kinds = [
    { network: 'base', currency: 'USDC' },
    { network: 'base', currency: 'ETH' },
    { network: 'bsc', currency: 'USDC' },
  ];
  const made: Answer['json'][] = [];
  for (let i = 0; i < 105; i++) made.push(await calls.made({ ...kinds[i % 3], externalId: `order-${i}` }));
  for (const i of [0, 50, 104]) made[i] = (await calls.act(made[i].id, 'cancel')).json;
  all = made.reverse();
});

const expectPage = async (query: string, expected: Answer['json'][], limit: number, offset: number): Promise<void> => {
  const answer = await calls.list(query);
  expect(answer.status, answer.text).toBe(200);
  const page = expected.slice(offset, offset + limit);
  expect(answer.json).toEqual({
    data: page,
    pagination: { total: expected.length, limit, offset, hasMore: offset + page.length < expected.length },
  });
};

describe('pages', () => {
  test('by default the newest 20', () => expectPage('', all, 20, 0));

  test.each([
    [1, 0],
    [100, 0],
    [20, 20],
    [7, 3],
    [100, 4],
    [100, 5],
    [100, 6],
    [1, 103],
    [1, 104],
    [1, 105],
    [20, 106],
  ])('limit %i, offset %i', (limit, offset) => expectPage(`limit=${limit}&offset=${offset}`, all, limit, offset));

  test('offset alone keeps the default limit', () => expectPage('offset=100', all, 20, 100));

  test('hasMore is true up to the last payment and false at it', async () => {
    const hasMore = async (query: string) => (await calls.list(query)).json.pagination.hasMore;
    expect(await hasMore('limit=5&offset=99')).toBe(true);
    expect(await hasMore('limit=5&offset=100')).toBe(false);
    expect(await hasMore('limit=6&offset=99')).toBe(false);
  });

  test('an offset far past the end is an empty page with the exact total', async () => {
    const offsets = [1_000, 1_001, 999_999_999, Number.MAX_SAFE_INTEGER];
    for (const offset of offsets) await expectPage(`offset=${offset}`, all, 20, offset);
  });

  test('walking the pages meets every payment once', async () => {
    const seen: string[] = [];
    for (let offset = 0; offset < 105; offset += 10) {
      const { data } = (await calls.list(`limit=10&offset=${offset}`)).json;
      seen.push(...data.map((payment: { id: string }) => payment.id));
    }
    expect(seen).toEqual(all.map(payment => payment.id));
  });

  test('of an account without payments are empty', async () => {
    const answer = await paymentCalls(scene, await scene.account()).list();
    expect(answer.json).toEqual({ data: [], pagination: { total: 0, limit: 20, offset: 0, hasMore: false } });
  });
});

describe('limit and offset that are refused', () => {
  const values = [
    '-1',
    '1.5',
    '1.0',
    '1e1',
    '',
    '%20',
    '+5',
    'ten',
    '0x10',
    '1_0',
    'NaN',
    'null',
    '99999999999999999999',
  ];
  test.each(['0', '101', '1000', ...values])('limit=%s', async value => {
    expectInvalid(await calls.list(`limit=${value}`), 'limit');
  });
  test.each(values)('offset=%s', async value => {
    expectInvalid(await calls.list(`offset=${value}`), 'offset');
  });
});

describe('filters', () => {
  const by = (fields: object) => all.filter(payment => Object.entries(fields).every(([k, v]) => payment[k] === v));

  test.each(['pending', 'canceled', 'expired', 'confirming', 'completed', 'reversed'])('status=%s', status =>
    expectPage(`status=${status}&limit=100`, by({ status }), 100, 0),
  );

  test.each([
    ['currency=USDC', { currency: 'USDC' }],
    ['currency=usdc', { currency: 'USDC' }],
    ['currency=DAI', { currency: 'DAI' }],
    ['network=bsc', { network: 'bsc' }],
    ['network=polygon', { network: 'polygon' }],
    ['network=base&currency=ETH', { network: 'base', currency: 'ETH' }],
    ['network=bsc&currency=ETH', { network: 'bsc', currency: 'ETH' }],
    ['status=canceled&network=bsc', { status: 'canceled', network: 'bsc' }],
    ['status=pending&currency=USDC', { status: 'pending', currency: 'USDC' }],
    ['status=pending&currency=USDC&network=base', { status: 'pending', currency: 'USDC', network: 'base' }],
    ['externalId=order-7', { externalId: 'order-7' }],
    ['externalId=order-7&status=pending', { externalId: 'order-7', status: 'pending' }],
    ['externalId=order-7&status=canceled', { externalId: 'order-7', status: 'canceled' }],
    ['externalId=ORDER-7', { externalId: 'ORDER-7' }],
    ['externalId=order-8&network=bsc&currency=USDC', { externalId: 'order-8', network: 'bsc', currency: 'USDC' }],
    ['externalId=order-8&network=base', { externalId: 'order-8', network: 'base' }],
  ])('%s', (query, fields) => expectPage(`${query}&limit=9&offset=1`, by(fields), 9, 1));

  test('address, in any spelling that names it', async () => {
    const one = all[12];
    const upper = `0x${one.address.slice(2).toUpperCase()}`;
    for (const address of [one.address, one.address.toLowerCase(), upper]) {
      await expectPage(`address=${address}`, [one], 20, 0);
    }
    await expectPage(`address=${one.address}&externalId=${one.externalId}`, [one], 20, 0);
    await expectPage(`address=${one.address}&externalId=${all[13].externalId}`, [], 20, 0);
    await expectPage(`address=${one.address}&currency=DAI`, [], 20, 0);
    await expectPage(`address=${one.address}&to=${all[13].createdAt}`, [], 20, 0);
    await expectPage(`address=${one.address}`, [one], 20, 0);
    await expectPage(`address=${one.address}&offset=1`, [one], 20, 1);
    await expectPage('address=0x0000000000000000000000000000000000000000', [], 20, 0);
    await expectPage('address=nonsense', [], 20, 0);
  });

  test("another account's address and externalId find nothing", async () => {
    const other = paymentCalls(scene, await scene.account());
    for (const query of [`address=${all[12].address}`, 'externalId=order-7']) {
      expect((await other.list(query)).json.pagination.total).toBe(0);
    }
  });
});

describe('parameters that are refused', () => {
  test.each(['Pending', 'paid', '', 'pending,expired', 'null'])('status=%s', async status => {
    const answer = await calls.list(`status=${status}`);
    expectInvalid(answer, 'status');
    expect(answer.json.error.message).toContain('reversed');
  });

  test.each(['solana', '', 'BASE'])('network=%s', async network => {
    expectInvalid(await calls.list(`network=${network}`), 'network');
  });

  test.each(['currency', 'address', 'externalId', 'from', 'to'])('an empty %s', async name => {
    expectInvalid(await calls.list(`${name}=`), name);
  });

  test.each(['page', 'cursor', 'Limit', 'sort', 'metadata', '__proto__', 'constructor'])(
    'the unknown parameter %s is named',
    async name => {
      const answer = await calls.list(`${name}=1`);
      expectInvalid(answer, name);
      expect(answer.json.error.message).toContain(name);
    },
  );

  test.each(['limit', 'offset', 'status', 'from', 'to', 'currency', 'network', 'address', 'externalId'])(
    '%s given twice',
    async name => {
      const value = { limit: '5', offset: '5', status: 'pending', network: 'base' }[name] ?? '2026-01-01';
      expectInvalid(await calls.list(`${name}=${value}&${name}=${value}`), name);
    },
  );

  test.each(['externalId=%00', 'address=%00', 'currency=%00'])('%s', async query => {
    expectInvalid(await calls.list(query), query.split('=')[0]);
  });
});
