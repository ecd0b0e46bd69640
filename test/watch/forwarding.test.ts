import { toHex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { type Contract, noToken } from './chainCalls.ts';
import { type Payment, startPayerScene, type WatchScene, withoutDepth } from './watchScene.ts';

let scene: WatchScene;
let usdc: string;
let payer: Contract;
beforeAll(async () => {
  ({ scene, usdc, payer } = await startPayerScene());
});

const whole = 25_000_000n;
const coins = { currency: 'ETH', amount: '0.01' };
const wei = 10n ** 16n;
const thief = '0x00000000000000000000000000000000000badc0';

const expectCompleted = async (created: Payment, amount: string): Promise<Payment> => {
  const payment = await scene.reach(created.id, 'completed');
  expect(payment).toMatchObject({ exception: null, amountReceived: amount, amountConfirmed: amount });
  expect(payment.transactions).toHaveLength(1);
  await scene.processed();
  expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  return payment;
};

describe('forwarder swept early', () => {
  test('tokens swept before they are final are credited all the same', async () => {
    const created = await scene.calls.made();
    const { treasury, salt } = await scene.originOf(created.id);
    const before = await scene.chain.tokenBalance(usdc, treasury);
    await scene.chain.payToken(usdc, created.address, whole);
    await scene.chain.sweep(treasury, usdc, [salt]);
    await expectCompleted(created, '25.00');
    expect(await scene.chain.tokenBalance(usdc, treasury)).toBe(before + whole);
    expect(await scene.chain.tokenBalance(usdc, created.address)).toBe(0n);
  });

  test('native coin swept before it is final is credited all the same', async () => {
    const created = await scene.calls.made(coins);
    const { treasury, salt } = await scene.originOf(created.id);
    const before = await scene.chain.coinBalance(treasury);
    const { transactionHash: hash } = await scene.chain.payCoin(created.address, wei);
    await scene.chain.sweep(treasury, noToken, [salt]);
    expect(await expectCompleted(created, '0.01')).toMatchObject({ transactions: [{ hash }] });
    expect(await scene.chain.coinBalance(treasury)).toBe(before + wei);
  });

  test("tokens swept in the deposit's own block are credited all the same", async () => {
    const created = await scene.calls.made();
    const { treasury, salt } = await scene.originOf(created.id);
    const args = [usdc, [created.address], [whole], forwarderFactory, treasury, [toHex(salt)]];
    const { transactionHash: hash } = await payer.call('payTokensAndSweep', args);
    expect(await scene.chain.tokenBalance(usdc, created.address)).toBe(0n);
    expect(await expectCompleted(created, '25.00')).toMatchObject({ transactions: [{ hash, from: payer.address }] });
  });

  test("native coin swept in the deposit's own block is credited all the same", async () => {
    const created = await scene.calls.made(coins);
    const { treasury, salt } = await scene.originOf(created.id);
    const args = [[created.address], [wei], forwarderFactory, treasury, [toHex(salt)]];
    const { blockNumber } = await payer.call('payCoinsAndSweep', args, wei);
    expect(await scene.chain.coinBalance(created.address)).toBe(0n);
    expect(await expectCompleted(created, '0.01')).toMatchObject({
      transactions: [{ blockNumber: Number(blockNumber), amount: '0.01' }],
    });
  });

  test('swept in parts, with more coming in between, it adds up to what came', async () => {
    const created = await scene.calls.made(coins);
    const { treasury, salt } = await scene.originOf(created.id);
    const sweepArgs = [forwarderFactory, treasury, [toHex(salt)]];
    await payer.call('payCoinsAndSweep', [[created.address], [1n], ...sweepArgs], 1n);
    await scene.chain.payCoin(created.address, 2n);
    await payer.call('payCoins', [[created.address], [3n]], 3n);
    await scene.chain.sweep(treasury, noToken, [salt]);
    await payer.call('payCoinsAndSweep', [[created.address], [wei - 6n], ...sweepArgs], wei - 6n);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '0.01', amountConfirmed: '0.01' });
  });
});

describe('native coin sent by a contract', () => {
  test('is found by the balance, in its block, without a transaction', async () => {
    const created = await scene.calls.made(coins);
    const { blockNumber } = await payer.call('payCoins', [[created.address], [wei]], wei);
    const payment = await expectCompleted(created, '0.01');
    expect(payment.transactions).toMatchObject([
      { hash: null, from: null, amount: '0.01', blockNumber: Number(blockNumber), explorerUrl: null },
    ]);
  });

  test('adds to what plain transactions brought, each once', async () => {
    const created = await scene.calls.made(coins);
    const { transactionHash: hash } = await scene.chain.payCoin(created.address, wei / 2n);
    await payer.call('payCoins', [[created.address], [wei / 2n]], wei / 2n);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '0.01' });
    expect(payment.transactions.map((each: Payment) => [each.hash, each.amount])).toEqual([
      [hash, '0.005'],
      [null, '0.005'],
    ]);
    await scene.chain.mine(3);
    await scene.processed();
    expect(await scene.read(created.id)).toMatchObject({ amountReceived: '0.01', exception: null });
  });

  test('several in a row are each counted', async () => {
    const created = await scene.calls.made(coins);
    for (let part = 0; part < 4; part++) await payer.call('payCoins', [[created.address], [wei / 4n]], wei / 4n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '0.01' });
  });
});

describe('sweep', () => {
  test('100 paid forwarders go to the treasury in one transaction, within 55,000 gas each', {
    tags: ['thorough'],
  }, async () => {
    const amounts = Array.from({ length: 100 }, (_, at) => 1_000_000n + BigInt(at));
    const made = await Promise.all(amounts.map(units => scene.calls.made({ amount: `1.${String(units).slice(1)}` })));
    const origins = await Promise.all(made.map(({ id }) => scene.originOf(id)));
    const { treasury } = origins[0]!;
    expect(new Set(origins.map(origin => origin.treasury)).size).toBe(1);
    const before = await scene.chain.tokenBalance(usdc, treasury);
    await payer.call('payTokens', [usdc, made.map(({ address }) => address), amounts]);
    await scene.chain.mine(2);
    const paid = await Promise.all(made.map(({ id }) => scene.reach(id, 'completed')));

    const salts = origins.map(({ salt }) => salt);
    // With another treasury the sweep goes to other, empty addresses.
    await scene.chain.sweep(thief, usdc, salts);
    expect(await scene.chain.tokenBalance(usdc, thief)).toBe(0n);
    const { gasUsed } = await scene.chain.sweep(treasury, usdc, salts);
    expect(Number(gasUsed)).toBeLessThanOrEqual(100 * 55_000);
    const total = amounts.reduce((sum, amount) => sum + amount);
    expect(await scene.chain.tokenBalance(usdc, treasury)).toBe(before + total);
    for (const { address } of made) expect(await scene.chain.tokenBalance(usdc, address)).toBe(0n);

    await scene.processed();
    const after = await Promise.all(made.map(({ id }) => scene.read(id)));
    expect(after.map(withoutDepth)).toEqual(paid.map(withoutDepth));
    for (const { id } of made) expect(await scene.kinds(id)).toHaveLength(4);
  });

  test('a made-up token of boundless balance, swept by a stranger, does not stop the chain', async () => {
    const created = await scene.calls.made();
    const { treasury, salt } = await scene.originOf(created.id);
    const boundless = await scene.chain.deploy('BoundlessToken');
    await scene.chain.sweep(treasury, boundless.address, [salt]);
    await scene.chain.payToken(usdc, created.address, whole);
    await expectCompleted(created, '25.00');
    const recorded = { name: 'test-forwards', text: `select contract from forwards where payment_id = $1` };
    expect(await scene.florin.admin.db.query(recorded, [created.id]), 'only listed tokens count').toEqual([]);
  });

  test('more test tokens than any payment can be do not stop the chain', async () => {
    const [drowned, other] = [await scene.calls.made({ currency: 'EURC' }), await scene.calls.made()];
    await scene.chain.mint(await scene.token('base', 'EURC'), drowned.address, 2n ** 255n);
    await scene.chain.payToken(usdc, other.address, whole);
    await expectCompleted(other, '25.00');
    expect((await scene.calls.read(drowned.id)).status).toBe(200);
  });
});
