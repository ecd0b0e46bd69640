import { beforeAll, describe, expect, test } from 'vitest';
import type { Sending } from '../support/client.ts';
import type { TestAccount } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { localCaip2, startWatchScene, type WatchScene } from '../watch/watchScene.ts';
import { expectError, expectInvalid, paymentCalls } from './paymentCalls.ts';

/** `arbitrum` is backed by a chain that is not the local one. */
let scene: WatchScene;
let far: FarChain;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  scene = await startWatchScene({ configFile: { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } } });
});

const ask = (id: string, body: unknown, sending: Sending = {}) =>
  scene.florin.client.call('POST', `/v1/sandbox/payments/${id}/simulate`, {
    key: scene.account.keys.sandbox,
    body,
    ...sending,
  });
const simulate = async (id: string, outcome: string): Promise<string> => {
  const answer = await ask(id, { outcome });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toEqual({ outcome, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  return answer.json.transaction;
};
const excepted = (id: string, exception: string | null) =>
  until(
    () => scene.read(id),
    payment => payment.exception === exception,
  );

describe('outcomes', () => {
  test.each(['USDC', 'USDT', 'DAI', 'ETH'])('paid in %s', async currency => {
    const { id, amount } = await scene.calls.made({ currency });
    const hash = await simulate(id, 'paid');
    const payment = await scene.reach(id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: amount, transactions: [{ hash, amount }] });
    expect(await scene.kinds(id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  });

  test('underpaid, and then paid: the rest', async () => {
    const { id } = await scene.calls.made();
    await simulate(id, 'underpaid');
    expect(await excepted(id, 'underpaid')).toMatchObject({ status: 'pending', amountReceived: '12.50' });
    await simulate(id, 'paid');
    expect(await scene.reach(id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
  });

  test('overpaid', async () => {
    const { id } = await scene.calls.made();
    await simulate(id, 'overpaid');
    const payment = await scene.reach(id, 'completed');
    expect(payment).toMatchObject({ exception: 'overpaid', amountReceived: '27.500001' });
  });

  test('late: the time ends, and the money comes after it', async () => {
    const created = await scene.calls.made({ expiresIn: 3600 });
    await simulate(created.id, 'late');
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: 'late', amountReceived: '25.00', expiresAt: created.expiresAt });
    expect(await scene.kinds(created.id)).toContain('late');
  });

  test('late, for a payment that is paid already, is an overpayment', async () => {
    const { id } = await scene.calls.made();
    await simulate(id, 'paid');
    await scene.reach(id, 'completed');
    await simulate(id, 'late');
    expect(await excepted(id, 'overpaid')).toMatchObject({ status: 'completed', amountReceived: '50.00' });
  });

  test('reorg: a completed payment is reversed, and no other changes', async () => {
    const before = await scene.calls.made();
    await simulate(before.id, 'paid');
    const { id } = await scene.calls.made();
    const hash = await simulate(id, 'paid');
    const after = await scene.calls.made();
    await simulate(after.id, 'paid');
    for (const each of [before.id, id, after.id]) await scene.reach(each, 'completed');
    expect(await simulate(id, 'reorg')).toBe(hash);
    const reversed = await scene.reach(id, 'reversed');
    expect(reversed).toMatchObject({ exception: 'reorged', amountReceived: '0.00', transactions: [] });
    await scene.processed();
    for (const each of [before.id, after.id]) {
      expect(await scene.read(each)).toMatchObject({ status: 'completed', amountReceived: '25.00', exception: null });
      expect(await scene.kinds(each)).toEqual(['created', 'detected', 'confirming', 'completed']);
    }
    await simulate(id, 'paid');
    expect(await scene.reach(id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
  });

  test('reorg of a payment without funds: they come and go', async () => {
    const created = await scene.calls.made();
    await simulate(created.id, 'reorg');
    await scene.processed();
    expect(await scene.read(created.id)).toEqual(created);
  });

  test('wrong_token', async () => {
    const created = await scene.calls.made();
    const hash = await simulate(created.id, 'wrong_token');
    const payment = await until(
      () => scene.read(created.id),
      ({ strays }) => strays.length > 0,
    );
    expect(payment).toEqual({
      ...created,
      strays: [{ caip2: localCaip2, contract: null, hash, amount: '1.00' }],
    });
    expect(await scene.kinds(created.id)).toEqual(['created', 'stray']);
  });

  test('wrong_token for a payment in native coin is a token', async () => {
    const created = await scene.calls.made({ currency: 'ETH' });
    await simulate(created.id, 'wrong_token');
    const { strays } = await until(
      () => scene.read(created.id),
      payment => payment.strays.length > 0,
    );
    expect(strays).toMatchObject([{ contract: expect.stringMatching(/^0x/), amount: '1.00' }]);
  });
});

describe('refusals', () => {
  let other: TestAccount;
  beforeAll(async () => {
    other = await scene.florin.account();
  });

  test.each([
    [{ outcome: 'stolen' }, 'outcome'],
    [{ outcome: null }, 'outcome'],
    [{}, 'outcome'],
    [{ outcome: 'paid', amount: '1' }, 'amount'],
  ])('%j', async (body, param) => {
    const { id } = await scene.calls.made();
    expectInvalid(await ask(id, body), param);
    await scene.processed();
    expect(await scene.kinds(id)).toEqual(['created']);
  });

  test('a body that is not an object', async () => {
    const { id } = await scene.calls.made();
    expectInvalid(await ask(id, 'paid'));
    expectInvalid(await ask(id, []));
  });

  test('without the permission to write payments', async () => {
    const { id } = await scene.calls.made();
    const { key } = await scene.florin.key(scene.account.id, 'sandbox', ['payments:read', 'webhooks:write']);
    const answer = await ask(id, { outcome: 'paid' }, { key });
    expectError(answer, 403, 'permission_denied');
    expect(answer.json.error.message).toContain('payments:write');
    expectError(await ask(id, { outcome: 'paid' }, { key: null }), 401, 'unauthorized');
  });

  test('ids that are unknown, of another tenant, or malformed', async () => {
    const { id } = await scene.calls.made();
    const unknown = await ask(id.replace(/.{4}$/, '0000'), { outcome: 'paid' });
    expectError(unknown, 404, 'not_found');
    const foreign = await ask(id, { outcome: 'paid' }, { key: other.keys.sandbox });
    expectError(foreign, 404, 'not_found');
    expect(foreign.json.error.message).toBe(unknown.json.error.message);
    expectError(await ask('pay_x', { outcome: 'paid' }), 404, 'not_found');
    await scene.expectUntouched(await scene.read(id));
  });

  test('in production there is no such thing', async () => {
    const { id } = await scene.calls.made();
    const sending = { key: scene.account.keys.production, environment: 'production' } as const;
    expectError(await ask(id, { outcome: 'paid' }, sending), 404, 'not_found');
  });

  test('nor for a network that another chain backs', async () => {
    const calls = paymentCalls(scene.florin, other);
    const { json } = await until(
      () => calls.create({ network: 'arbitrum', currency: 'ETH', amount: '1' }),
      ({ status }) => status === 200,
    );
    expectError(await ask(json.id, { outcome: 'paid' }, { key: other.keys.sandbox }), 404, 'not_found');
  });

  test('the same Idempotency-Key pays once', async () => {
    const { id } = await scene.calls.made();
    const sending = { headers: { 'idempotency-key': `simulate-${id}` } };
    const first = await ask(id, { outcome: 'paid' }, sending);
    const second = await ask(id, { outcome: 'paid' }, sending);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.json).toEqual(first.json);
    await scene.reach(id, 'completed');
    await scene.processed();
    expect(await scene.read(id)).toMatchObject({ amountReceived: '25.00', exception: null });
  });
});
