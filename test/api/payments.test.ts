import { describe, expect, test } from 'vitest';
import { timeOfId } from '../support/timeOfId.ts';
import { until } from '../support/until.ts';
import { expectError, ordinary, paymentCalls, startPaymentScene } from './paymentCalls.ts';

const { account, calls, scene } = await startPaymentScene();

const isoUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

test('a payment can be created, read and listed', async () => {
  const body = { amount: '25', currency: 'usdc', network: 'base' };
  const created = await scene.client.call('POST', '/v1/payments', { key: account.keys.sandbox, body });
  expect(created.status, created.text).toBe(200);
  const read = await scene.client.call('GET', `/v1/payments/${created.json.id}`, { key: account.keys.sandbox });
  expect(read.json).toEqual(created.json);
  const list = await scene.client.call('GET', '/v1/payments', { key: account.keys.sandbox });
  expect(list.json).toEqual({ data: [created.json], pagination: { total: 1, limit: 20, offset: 0, hasMore: false } });
});

describe('the payment object', () => {
  test('of a request with the required fields only has every field, with nulls and {} for what was not given', async () => {
    const created = await calls.create();
    expect(created.status, created.text).toBe(200);
    const { id, address, createdAt, expiresAt, paymentUri, ...rest } = created.json;
    expect(rest).toEqual({
      status: 'pending',
      amount: '25.00',
      currency: 'USDC',
      network: 'base',
      checkoutUrl: `${scene.florin.urls.sandbox}/checkout/${id}`,
      metadata: {},
      environment: 'sandbox',
      description: null,
      callbackUrl: null,
      redirectUrl: null,
      externalId: null,
      amountReceived: '0.00',
      amountConfirmed: '0.00',
      exception: null,
      confirmations: { current: 0, required: 2, rule: 'depth' },
      transactions: [],
      strays: [],
      completedAt: null,
      canceledAt: null,
    });
    expect(id).toMatch(/^pay_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(createdAt).toMatch(isoUtc);
    expect(expiresAt).toMatch(isoUtc);
    expect(paymentUri).toMatch(
      new RegExp(`^ethereum:0x[0-9a-fA-F]{40}@31337/transfer\\?address=${address}&uint256=25000000$`),
    );
  });

  test('of a request with every field returns each as given', async () => {
    const given = {
      description: 'Two coffees ☕ & a "cake"',
      metadata: { order: 7, nested: { list: [1, null, true] } },
      callbackUrl: 'https://merchant.example/hooks?a=1',
      redirectUrl: 'https://merchant.example/thanks',
      externalId: 'order 7/ü',
    };
    const payment = await calls.made({ ...given, amount: '0.5', currency: 'ETH', expiresIn: 90 });
    expect(payment).toMatchObject({ ...given, amount: '0.50', currency: 'ETH', network: 'base', status: 'pending' });
    expect(Date.parse(payment.expiresAt) - Date.parse(payment.createdAt)).toBe(90_000);
    expect(payment.paymentUri).toBe(`ethereum:${payment.address}@31337?value=500000000000000000`);
  });

  test('is byte for byte the same in creation, retrieval and the list', async () => {
    const created = await calls.create({ ...ordinary, metadata: { a: 'ü' }, description: 'line\nbreak' });
    const read = await calls.read(created.json.id);
    expect(read.text).toBe(created.text);
    const list = await calls.list('limit=1');
    expect(list.text.startsWith(`{"data":[${created.text}],"pagination":{`), list.text).toBe(true);
  });

  test('is sent as JSON in UTF-8 with a request id', async () => {
    const created = await calls.create();
    expect(created.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(created.headers['x-request-id']).toMatch(/\S/);
  });
});

describe('ids and times', () => {
  test('an id carries the millisecond of createdAt, also as stored', async () => {
    const payment = await calls.made();
    const ms = timeOfId('payment', payment.id);
    expect(new Date(ms).toISOString()).toBe(payment.createdAt);
    const [row] = await scene.admin.db.query<{ ms: string }>(
      { name: 'test-created', text: 'select extract(epoch from created_at) * 1000 as ms from payments where id = $1' },
      [payment.id],
    );
    expect(Number(row!.ms)).toBe(ms);
  });

  test('createdAt is now by the database clock', async () => {
    const clock = { name: 'test-clock', text: 'select floor(extract(epoch from clock_timestamp()) * 1000) as ms' };
    const before = Number((await scene.admin.db.query<{ ms: string }>(clock))[0]!.ms);
    const createdMs = Date.parse((await calls.made()).createdAt);
    const after = Number((await scene.admin.db.query<{ ms: string }>(clock))[0]!.ms);
    // The service estimates the database's clock from a round trip, so it may be off by less than that.
    expect(createdMs).toBeGreaterThanOrEqual(before - 100);
    expect(createdMs).toBeLessThanOrEqual(after + 100);
  });

  test('ids of payments created one after another climb', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await calls.made()).id);
    expect([...ids].sort()).toEqual(ids);
  });

  test('of many created at once no id and no address is given twice', async () => {
    const payments = await Promise.all(Array.from({ length: 100 }, () => calls.made()));
    expect(new Set(payments.map(p => p.id)).size).toBe(100);
    expect(new Set(payments.map(p => p.address)).size).toBe(100);
  });

  test('expiresAt is createdAt plus 3600 seconds unless expiresIn says otherwise', async () => {
    const payment = await calls.made();
    expect(Date.parse(payment.expiresAt) - Date.parse(payment.createdAt)).toBe(3_600_000);
  });

  test.each([1, 59, 2_592_000])('expiresAt is createdAt plus expiresIn %i', async expiresIn => {
    const payment = await calls.made({ expiresIn });
    expect(Date.parse(payment.expiresAt) - Date.parse(payment.createdAt)).toBe(expiresIn * 1000);
  });
});

describe('retrieval', () => {
  test.each([
    ['of an id that was never given', 'pay_00000000000000000000000000'],
    ['of something that is no id', 'nonsense'],
    ['of another kind of id', 'we_01k3zjpkq8e5d0v6m0f1x2y3z4'],
    ['of an upper-case id', 'pay_01K3ZJPKQ8E5D0V6M0F1X2Y3Z4'],
    ['of an encoded slash', 'pay_%2F'],
    ['of an encoded zero byte', 'pay_%00'],
    ['of an id that is far too long', `pay_${'0'.repeat(7_000)}`],
    ['of nothing', ''],
  ])('%s is 404', async (_, id) => {
    expectError(await calls.read(id), 404, 'not_found');
  });

  test("of another account's payment is 404, in the very words used for an unknown id", async () => {
    const other = paymentCalls(scene, await scene.account());
    const foreign = await other.read((await calls.made()).id);
    const unknown = await other.read('pay_00000000000000000000000000');
    expectError(foreign, 404, 'not_found');
    expect(foreign.json.error.message).toBe(unknown.json.error.message);
  });

  test("of the other environment's payment is 404", async () => {
    const live = paymentCalls(scene, account, 'production');
    expectError(await live.read((await calls.made()).id), 404, 'not_found');
  });
});

test('tolerance and late policy are frozen at creation; a change of settings touches new payments only', async () => {
  const stored = {
    name: 'test-terms',
    text: 'select tolerance_bps, late_policy, late_window_seconds from payments where id = $1',
  };
  const before = { tolerance_bps: 0, late_policy: 'accept', late_window_seconds: 2_592_000 };
  const after = { tolerance_bps: 150, late_policy: 'manual', late_window_seconds: 60 };
  const merchant = await scene.account();
  const merchantCalls = paymentCalls(scene, merchant);
  const { id } = await merchantCalls.made();
  expect(await scene.admin.db.query(stored, [id])).toEqual([before]);
  await scene.admin.db.script(`update account_settings set tolerance_bps = 150, late_policy = 'manual',
    late_window_seconds = 60 where account_id = '${merchant.id}'`);
  await until(
    async () => (await scene.admin.db.query(stored, [(await merchantCalls.made()).id]))[0]!,
    terms => terms.late_policy === 'manual',
  );
  expect(await scene.admin.db.query(stored, [(await merchantCalls.made()).id])).toEqual([after]);
  expect(await scene.admin.db.query(stored, [id])).toEqual([before]);
});

test('a payment needs a key that may write, and reading one that may read', async () => {
  const reader = await scene.key(account.id, 'sandbox', ['payments:read']);
  const writer = await scene.key(account.id, 'sandbox', ['payments:write']);
  const { id } = await calls.made();
  const post = (key: string | null) => scene.client.call('POST', '/v1/payments', { key, body: ordinary });
  const get = (key: string | null, path = `/v1/payments/${id}`) => scene.client.call('GET', path, { key });
  expectError(await post(null), 401, 'unauthorized');
  expectError(await get(null), 401, 'unauthorized');
  expectError(await post(reader.key), 403, 'permission_denied');
  expectError(await get(writer.key), 403, 'permission_denied');
  expectError(await get(writer.key, '/v1/payments'), 403, 'permission_denied');
  expect((await post(writer.key)).status).toBe(200);
  expect((await get(reader.key)).status).toBe(200);
});
