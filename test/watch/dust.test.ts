import { beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectInvalid } from '../api/paymentCalls.ts';
import { until } from '../support/until.ts';
import { startWatchScene, type WatchScene } from './watchScene.ts';

let scene: WatchScene;
let usdc: string;
beforeAll(async () => {
  scene = await startWatchScene();
  usdc = await scene.token('base', 'USDC');
});

// The floor of USDC is 0.01, which is less than 1 % of 25.
const whole = 25_000_000n;
const dust = 9_999n;
const pay = async (to: string, amount: bigint): Promise<void> => {
  await scene.chain.payToken(usdc, to, amount);
  await scene.processed();
};
const half = async (): Promise<{ id: string; address: string }> => {
  const created = await scene.calls.made();
  await pay(created.address, whole / 2n);
  return created;
};

describe('dust', () => {
  test('is shown and counted, tells nobody, and does not prevent cancel', async () => {
    const created = await scene.calls.made();
    await pay(created.address, dust);
    const read = await scene.read(created.id);
    expect(read).toMatchObject({ status: 'pending', exception: null, amountReceived: '0.009999' });
    expect(read.transactions).toMatchObject([{ amount: '0.009999' }]);
    expect(await scene.kinds(created.id)).toEqual(['created']);
    expectError(await scene.calls.act(created.id, 'resolve', { body: { action: 'accept' } }), 409, 'conflict');
    // The copy that is kept of a payment must follow the chain although nothing was told.
    await scene.chain.mine(1);
    await scene.processed();
    expect((await scene.read(created.id)).transactions).toMatchObject([{ status: 'confirmed' }]);
    const canceled = await scene.calls.act(created.id, 'cancel');
    expect(canceled.json, canceled.text).toMatchObject({ status: 'canceled', exception: null });
    expect(await scene.kinds(created.id)).toEqual(['created', 'canceled']);
  });

  test('that adds up to more is told once, and later dust is not', async () => {
    const created = await scene.calls.made();
    for (const part of [dust, 1n, dust, dust]) await pay(created.address, part);
    expect(await scene.read(created.id)).toMatchObject({ exception: 'underpaid', amountReceived: '0.029998' });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'underpaid']);
    expectError(await scene.calls.act(created.id, 'cancel'), 409, 'conflict');
  });

  test('beyond the amount is no overpayment', async () => {
    const created = await scene.calls.made();
    await pay(created.address, whole + dust);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.009999' });
    await pay(created.address, 1n);
    await until(
      () => scene.read(created.id),
      ({ exception }) => exception === 'overpaid',
    );
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed', 'overpaid']);
  });

  test('of native coin has a floor of its own, and payments of before have none', async () => {
    const coin = await scene.calls.made({ currency: 'ETH', amount: '1' });
    await scene.chain.payCoin(coin.address, 10n ** 12n - 1n);
    await scene.processed();
    expect(await scene.read(coin.id)).toMatchObject({ exception: null, amountReceived: '0.000000999999999999' });
    expect(await scene.kinds(coin.id)).toEqual(['created']);
    const before = await scene.calls.made();
    await scene.florin.admin.db.script(`begin; alter table payments disable trigger payments_frozen;
      update payments set dust_floor = 0 where id = '${before.id}';
      alter table payments enable trigger payments_frozen; commit`);
    await pay(before.address, 1n);
    expect(await scene.kinds(before.id)).toEqual(['created', 'detected', 'underpaid']);
  });
});

describe('resolve with expectedAmount', () => {
  const accept = (id: string, expectedAmount: unknown) =>
    scene.calls.act(id, 'resolve', { body: { action: 'accept', expectedAmount } });

  test('accepts the sum that the merchant saw, however it is written', async () => {
    const created = await half();
    expect((await accept(created.id, '12.5')).status).toBe(200);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountConfirmed: '12.50' });
  });

  test('answers 409 and accepts nothing if another sum has arrived by now', async () => {
    const created = await half();
    await pay(created.address, 1n);
    const answer = await accept(created.id, '12.50');
    expectError(answer, 409, 'conflict');
    expect(answer.json.error.message).toContain('12.500001 USDC');
    expect(await scene.read(created.id)).toMatchObject({ status: 'pending', exception: 'underpaid' });
    expect((await accept(created.id, '12.500001')).status).toBe(200);
  });

  test('refuses anything that is not an amount', async () => {
    const created = await half();
    for (const text of ['', '1e1', '-1', ' 12.5', '12,5', '0', '12.5000001', 12.5, null, `1${'0'.repeat(31)}`]) {
      expectInvalid(await accept(created.id, text), 'expectedAmount');
    }
    expect(await scene.read(created.id)).toMatchObject({ status: 'pending', exception: 'underpaid' });
  });
});

describe('late funds', () => {
  const terms = { name: 'test-late-terms', text: 'select late_policy from payments where id = $1' };
  const policyOf = async (id: string): Promise<string> =>
    (await scene.florin.admin.db.query<{ late_policy: string }>(terms, [id]))[0]!.late_policy;

  test('a late volatile coin is no free option: it waits for a decision, tokens do not', async () => {
    const coin = await scene.calls.made({ currency: 'ETH', amount: '1', expiresIn: 1 });
    const token = await scene.calls.made({ expiresIn: 1 });
    expect([await policyOf(coin.id), await policyOf(token.id)]).toEqual(['manual', 'accept']);
    for (const { id } of [coin, token]) await scene.reach(id, 'expired');
    // Block times are whole seconds: a block in the second in which the time ended would be in time.
    await until(
      async () => Date.now(),
      nowMs => nowMs > Date.parse(token.expiresAt) + 1_000,
    );
    await scene.chain.payCoin(coin.address, 10n ** 18n);
    await pay(token.address, whole);
    expect(await scene.reach(token.id, 'completed')).toMatchObject({ exception: 'late' });
    await scene.chain.mine(3);
    await scene.processed();
    expect(await scene.read(coin.id)).toMatchObject({ status: 'expired', exception: 'late' });
    expect((await scene.calls.act(coin.id, 'resolve', { body: { action: 'accept' } })).status).toBe(200);
    expect(await scene.reach(coin.id, 'completed')).toMatchObject({ exception: 'late' });
  });

  test('a policy that the merchant chose holds for coin, too', async () => {
    await scene.florin.admin.db.script(
      `update account_settings set late_policy = 'accept' where account_id = '${scene.account.id}'`,
    );
    const made = () => scene.calls.made({ currency: 'ETH', amount: '1' });
    await until(
      async () => policyOf((await made()).id),
      policy => policy === 'accept',
    );
  });
});
