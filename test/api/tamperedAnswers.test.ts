import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { expectError, ordinary, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let account: TestAccount;
let calls: PaymentCalls;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  calls = paymentCalls(scene, account);
});

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const create = (key: string) => calls.create(ordinary, keyed(key));
const endpoint = (key: string) =>
  scene.client.call('POST', '/v1/webhooks', {
    key: account.keys.sandbox,
    body: { url: 'https://shop.example/' },
    ...keyed(key),
  });
const counts = async () => ({
  payments: (await calls.list('limit=1')).json.pagination.total,
  endpoints: (await scene.client.call('GET', '/v1/webhooks', { key: account.keys.sandbox })).json.pagination.total,
});

const changes = [
  ['response', `response = replace(response, '0x', '0xbadc0de')`],
  ['status', 'status = 201'],
  ['resource', `resource_id = 'pay_other'`],
  ['hash', `body_hash = sha256('another body')`],
  ['seal', 'row_seal = null'],
] as const;

describe('a kept answer that was changed in the database is not given, and nothing is done', () => {
  test.each(changes)('of a payment: its %s', async (name, assignment) => {
    const key = `payment-${name}`;
    expect((await create(key)).status).toBe(200);
    const before = await counts();
    await scene.tamper(`update idempotency_keys set ${assignment} where key = '${key}'`);
    expectError(await create(key), 500, 'internal_error');
    expect(await counts()).toEqual(before);
  });

  test.each([
    ['answer', `sealed_response = sealed_response || '\\x00'`],
    ['status', 'status = 201'],
    ['place', `key = key || '-moved'`],
  ])('of a new endpoint: its %s', async (name, assignment) => {
    const key = `endpoint-${name}`;
    expect((await endpoint(key)).status).toBe(200);
    const before = await counts();
    await scene.tamper(`update idempotency_keys set ${assignment} where key = '${key}'`);
    expectError(await endpoint(name === 'place' ? `${key}-moved` : key), 500, 'internal_error');
    expect(await counts()).toEqual(before);
  });

  test('of another account', async () => {
    const other = await scene.account();
    const theirs = paymentCalls(scene, other);
    expect((await theirs.create(ordinary, keyed('theirs'))).status).toBe(200);
    await scene.tamper(`update idempotency_keys set account_id = '${account.id}' where key = 'theirs'`);
    expectError(await create('theirs'), 500, 'internal_error');
  });
});

test('a refusal that is kept is sealed too', async () => {
  expect((await calls.create({ ...ordinary, externalId: 'once' })).status).toBe(200);
  const again = () => calls.create({ ...ordinary, externalId: 'once' }, keyed('twice'));
  const refused = await again();
  expectError(refused, 409, 'conflict', 'externalId');
  expect((await again()).text).toBe(refused.text);
  await scene.tamper(`update idempotency_keys set status = 200 where key = 'twice'`);
  expectError(await again(), 500, 'internal_error');
});
