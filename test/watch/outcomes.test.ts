import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import type { Contract } from './chainCalls.ts';
import { startPayerScene, type WatchScene } from './watchScene.ts';

let scene: WatchScene;
let usdc: string;
let payer: Contract;
beforeAll(async () => {
  ({ scene, usdc, payer } = await startPayerScene());
});

/** 25 USDC, which has six decimals. */
const whole = 25_000_000n;

describe('a payment that is paid', () => {
  test('is completed, with the transaction, its confirmations and an event for each step', async () => {
    const created = await scene.calls.made();
    const receipt = await scene.chain.payToken(usdc, created.address, whole);
    const payment = await scene.reach(created.id, 'completed');
    const { confirmations, transactions, ...rest } = payment;
    const depth = expect.any(Number);
    expect(rest).toEqual({
      ...Object.fromEntries(Object.entries(created).filter(([name]) => name in rest)),
      status: 'completed',
      amountReceived: '25.00',
      amountConfirmed: '25.00',
      completedAt: expect.any(String),
    });
    expect(transactions).toEqual([
      {
        hash: receipt.transactionHash,
        from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        amount: '25.00',
        blockNumber: Number(receipt.blockNumber),
        confirmations: depth,
        status: 'confirmed',
        explorerUrl: null,
      },
    ]);
    expect(confirmations).toEqual({ current: transactions[0].confirmations, required: 2, rule: 'depth' });
    expect(confirmations.current).toBeGreaterThanOrEqual(2);

    const events = await scene.events(created.id);
    const states = ['pending', 'pending', 'confirming', 'completed'];
    expect(events.map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'payment.created'],
      [2, 'payment.detected'],
      [3, 'payment.confirming'],
      [4, 'payment.completed'],
    ]);
    for (const [at, { body, sequence, type }] of events.entries()) {
      expect(body).toMatchObject({ sequence, type, apiVersion: 'v1', environment: 'sandbox' });
      expect(body.data).toMatchObject({ id: created.id, status: states[at] });
      expect(body.previous).toEqual({ status: at === 0 ? null : states[at - 1], exception: null });
      if (at > 0) expect(body.data.transactions).toMatchObject([{ hash: receipt.transactionHash, amount: '25.00' }]);
    }
    const [, , confirming, completed] = events.map(({ body }) => body.data);
    expect(confirming.confirmations.current).toBeGreaterThanOrEqual(1);
    expect(completed.confirmations.current).toBeGreaterThanOrEqual(2);
    expect(completed).toMatchObject({ amountConfirmed: '25.00', completedAt: rest.completedAt });
  });

  test('its confirmations keep counting', async () => {
    const created = await scene.calls.made();
    await scene.chain.payToken(usdc, created.address, whole);
    await scene.chain.mine(10);
    const payment = await until(
      () => scene.read(created.id),
      ({ confirmations }) => confirmations.current >= 11,
    );
    expect(payment.transactions[0].confirmations).toBe(payment.confirmations.current);
  });

  const currencies = [
    ['USDT that returns nothing', 'ethereum', 'USDT', '25.000001', 25_000_001n],
    ['USDT with 18 decimals', 'bsc', 'USDT', '25.000000000000000001', 25_000_000_000_000_000_001n],
    ['DAI', 'polygon', 'DAI', '0.000000000000000001', 1n],
    ['native ETH', 'arbitrum', 'ETH', '0.123456789012345678', 123_456_789_012_345_678n],
    ['native BNB', 'bsc', 'BNB', '0.000000000000000001', 1n],
  ] as const;
  test.each(currencies)('in %s is completed to the base unit', async (_, network, currency, amount, units) => {
    const created = await scene.calls.made({ network, currency, amount });
    const token = await scene.token(network, currency);
    if (token === null) await scene.chain.payCoin(created.address, units);
    else await scene.chain.payToken(token, created.address, units);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({
      exception: null,
      amount,
      amountReceived: amount,
      amountConfirmed: amount,
      transactions: [{ amount }],
    });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  });
});

describe('second, late, over, under payment', () => {
  test('under by one base unit waits, and the missing unit completes it', async () => {
    const created = await scene.calls.made();
    await scene.chain.payToken(usdc, created.address, whole - 1n);
    await scene.chain.mine(3);
    const short = await until(
      () => scene.read(created.id),
      ({ amountConfirmed }) => amountConfirmed !== '0.00',
    );
    expect(short).toMatchObject({
      status: 'pending',
      exception: 'underpaid',
      amountReceived: '24.999999',
      amountConfirmed: '24.999999',
      confirmations: { current: 0 },
    });
    await scene.chain.payToken(usdc, created.address, 1n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'underpaid', 'confirming', 'completed']);
  });

  test('over by more than dust completes and says so', async () => {
    const created = await scene.calls.made();
    await scene.chain.payToken(usdc, created.address, whole + 10_000n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({
      exception: 'overpaid',
      amountReceived: '25.01',
      amountConfirmed: '25.01',
    });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'overpaid', 'completed']);
  });

  test('paid three times: each is matched, and told once', async () => {
    const created = await scene.calls.made();
    for (let times = 1; times <= 3; times++) {
      await scene.chain.payToken(usdc, created.address, whole);
      await scene.chain.mine(2);
      await until(
        () => scene.read(created.id),
        ({ amountConfirmed }) => amountConfirmed === `${25 * times}.00`,
      );
    }
    const payment = await scene.read(created.id);
    expect(payment).toMatchObject({ status: 'completed', exception: 'overpaid', amountReceived: '75.00' });
    expect(payment.transactions).toHaveLength(3);
    expect(await scene.kinds(created.id)).toEqual([
      'created',
      'detected',
      'confirming',
      'completed',
      'overpaid',
      'overpaid',
    ]);
  });

  test('late funds complete an expired payment, and say that they were late', async () => {
    const created = await scene.calls.made({ expiresIn: 1 });
    await scene.reach(created.id, 'expired');
    // Block times are whole seconds: a block in the second in which the time ended would be in time.
    const endMs = Date.parse(created.expiresAt);
    await until(
      async () => Date.now(),
      nowMs => nowMs > endMs + 1_000,
    );
    await scene.chain.payToken(usdc, created.address, whole);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: 'late', amountReceived: '25.00' });
    expect(await scene.kinds(created.id)).toEqual([
      'created',
      'expired',
      'detected',
      'late',
      'confirming',
      'completed',
    ]);
  });
});

describe('what the merchant decides', () => {
  const accept = (id: string) => scene.calls.act(id, 'resolve', { body: { action: 'accept' } });

  test('a part that is accepted completes the payment once it is final', async () => {
    const created = await scene.calls.made();
    await scene.chain.payToken(usdc, created.address, whole / 2n);
    await until(
      () => scene.read(created.id),
      ({ exception }) => exception === 'underpaid',
    );
    expect((await accept(created.id)).status).toBe(200);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: 'underpaid', amountReceived: '12.50', amountConfirmed: '12.50' });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'underpaid', 'confirming', 'completed']);
  });

  test('funds on a canceled payment leave it canceled until they are accepted', async () => {
    const created = await scene.calls.made();
    expect((await scene.calls.act(created.id, 'cancel')).status).toBe(200);
    await scene.chain.payToken(usdc, created.address, whole);
    await scene.chain.mine(3);
    await scene.processed();
    expect(await scene.read(created.id)).toMatchObject({
      status: 'canceled',
      exception: 'late',
      amountReceived: '25.00',
    });
    expect(await scene.kinds(created.id)).toEqual(['created', 'canceled', 'detected', 'late']);
    expect((await accept(created.id)).status).toBe(200);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: 'late', amountReceived: '25.00' });
  });
});

describe('one transaction', () => {
  test('five transfers to one payment add up', async () => {
    const created = await scene.calls.made();
    const amounts = [1n, 4_999_999n, 5_000_000n, 7_000_000n, 8_000_000n];
    const to = amounts.map(() => created.address);
    const { transactionHash } = await payer.call('payTokens', [usdc, to, amounts]);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '25.00', amountConfirmed: '25.00' });
    expect(payment.transactions.map(({ hash, amount }: { hash: string; amount: string }) => [hash, amount])).toEqual(
      ['0.000001', '4.999999', '5.00', '7.00', '8.00'].map(amount => [transactionHash, amount]),
    );
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  });

  test('three payments, one short, one exact, one over, each get their own', async () => {
    const payments = [await scene.calls.made(), await scene.calls.made(), await scene.calls.made()];
    const to = payments.map(({ address }) => address);
    await payer.call('payTokens', [usdc, to, [whole - 1n, whole, whole + 10_000n]]);
    const [short, exact, over] = payments.map(({ id }) => id) as [string, string, string];
    expect(await scene.reach(exact, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
    expect(await scene.reach(over, 'completed')).toMatchObject({ exception: 'overpaid', amountReceived: '25.01' });
    expect(await scene.read(short)).toMatchObject({
      status: 'pending',
      exception: 'underpaid',
      amountReceived: '24.999999',
    });
  });

  test('three payments in native coin get their own', async () => {
    const wanted = { network: 'base', currency: 'ETH', amount: '0.01' };
    const payments = [await scene.calls.made(wanted), await scene.calls.made(wanted), await scene.calls.made(wanted)];
    const [units, dustFloor] = [10n ** 16n, 10n ** 12n];
    const to = payments.map(({ address }) => address);
    await payer.call('payCoins', [to, [units, units + dustFloor, units]], units * 3n + dustFloor);
    const [first, second, third] = await Promise.all(payments.map(({ id }) => scene.reach(id, 'completed')));
    for (const payment of [first, third]) expect(payment).toMatchObject({ exception: null, amountReceived: '0.01' });
    expect(second).toMatchObject({ exception: 'overpaid', amountReceived: '0.010001' });
  });

  test('more transfers than are shown still add up', async () => {
    const created = await scene.calls.made({ amount: '0.000150' });
    await payer.call('repeatTransfer', [usdc, created.address, 1n, 150n]);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '0.00015', amountConfirmed: '0.00015' });
    expect(payment.transactions).toHaveLength(100);
  });
});
