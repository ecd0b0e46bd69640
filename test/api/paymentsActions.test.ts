import { describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { until } from '../support/until.ts';
import { expectError, expectInvalid, paymentCalls, startPaymentScene } from './paymentCalls.ts';

const { account, calls, scene } = await startPaymentScene();

const accept = { body: { action: 'accept' } };
const unknownId = 'pay_00000000000000000000000000';
const expired = async (): Promise<{ id: string }> => {
  const { id } = await calls.made({ expiresIn: 1 });
  await until(
    () => calls.read(id),
    answer => answer.json.status === 'expired',
  );
  return { id };
};

describe('cancel', () => {
  test('turns a pending payment to canceled, sets canceledAt and changes nothing else', async () => {
    const payment = await calls.made({ metadata: { a: 1 }, externalId: 'cancel-1' });
    const canceled = await calls.act(payment.id, 'cancel');
    expect(canceled.status, canceled.text).toBe(200);
    expect(canceled.json).toEqual({ ...payment, status: 'canceled', canceledAt: expect.stringMatching(/\.\d{3}Z$/) });
    expect(canceled.json.canceledAt >= payment.createdAt).toBe(true);
    expect((await calls.read(payment.id)).text).toBe(canceled.text);
  });

  test('of a canceled payment is 409 and leaves canceledAt as it was', async () => {
    const { id } = await calls.made();
    const first = await calls.act(id, 'cancel');
    const again = await calls.act(id, 'cancel');
    expectError(again, 409, 'conflict');
    expect(again.json.error.message).toContain('canceled');
    expect((await calls.read(id)).text).toBe(first.text);
  });

  test('of an expired payment is 409', async () => {
    const { id } = await expired();
    const answer = await calls.act(id, 'cancel');
    expectError(answer, 409, 'conflict');
    expect(answer.json.error.message).toContain('expired');
    expect((await calls.read(id)).json).toMatchObject({ status: 'expired', canceledAt: null });
  });

  test('asked for many times at once succeeds exactly once', async () => {
    const { id } = await calls.made();
    const answers = await Promise.all(Array.from({ length: 10 }, () => calls.act(id, 'cancel')));
    expect(answers.map(answer => answer.status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });

  test('takes an empty JSON object as body, too', async () => {
    const { id } = await calls.made();
    expect((await calls.act(id, 'cancel', { body: {} })).status).toBe(200);
  });

  test('a canceled payment does not expire later', async () => {
    const { id } = await calls.made({ expiresIn: 1 });
    await calls.act(id, 'cancel');
    await expired();
    expect((await calls.read(id)).json.status).toBe('canceled');
  });
});

describe('resolve', () => {
  test('of a pending payment that received nothing is 409 and changes nothing', async () => {
    const payment = await calls.made();
    expectError(await calls.act(payment.id, 'resolve', accept), 409, 'conflict');
    expect((await calls.read(payment.id)).json).toEqual(payment);
  });

  test('of a canceled or expired payment that received nothing is 409', async () => {
    const { id } = await calls.made();
    await calls.act(id, 'cancel');
    expectError(await calls.act(id, 'resolve', accept), 409, 'conflict');
    expectError(await calls.act((await expired()).id, 'resolve', accept), 409, 'conflict');
  });

  test.each([
    ['no body', undefined, undefined],
    ['no action', {}, 'action'],
    ['an unknown action', { action: 'refund' }, 'action'],
    ['an action of another type', { action: true }, 'action'],
    ['an unknown field', { action: 'accept', amount: '5' }, 'amount'],
  ])('with %s is 400', async (_, body, param) => {
    const { id } = await calls.made();
    expectInvalid(await calls.act(id, 'resolve', { body }), param);
  });
});

describe.each([
  ['cancel', {}],
  ['resolve', accept],
])('%s', (action, sending) => {
  test.each([unknownId, 'nonsense'])('of %s is 404', async id => {
    expectError(await calls.act(id, action, sending), 404, 'not_found');
  });

  test("of another account's payment is 404 and leaves it alone", async () => {
    const { id } = await calls.made();
    const other = paymentCalls(scene, await scene.account());
    expectError(await other.act(id, action, sending), 404, 'not_found');
    expect((await calls.read(id)).json.status).toBe('pending');
  });

  test("of the other environment's payment is 404", async () => {
    const { id } = await calls.made();
    expectError(await paymentCalls(scene, account, 'production').act(id, action, sending), 404, 'not_found');
  });

  test('needs its permission', async () => {
    const { id } = await calls.made();
    const needed = action === 'cancel' ? 'payments:write' : 'payments:resolve';
    const others = permissions.filter(each => each !== needed);
    const weak = await scene.key(account.id, 'sandbox', others);
    const answer = await calls.act(id, action, { ...sending, key: weak.key });
    expectError(answer, 403, 'permission_denied');
    expect(answer.json.error.message).toContain(needed);
    expect((await calls.read(id)).json.status).toBe('pending');
  });

  test('is not a GET: 405 that names POST', async () => {
    const { id } = await calls.made();
    const answer = await scene.client.call('GET', `/v1/payments/${id}/${action}`, { key: account.keys.sandbox });
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.allow).toBe('POST');
  });
});
