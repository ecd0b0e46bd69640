import { encodeFunctionData, type Hex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import forwarderArtefact from '../../contracts/artefacts/Forwarder.json' with { type: 'json' };
import { until } from '../support/until.ts';
import { type Contract, noToken } from './chainCalls.ts';
import { startPayerScene, type WatchScene, withoutDepth } from './watchScene.ts';

let scene: WatchScene;
let usdc: string;
let payer: Contract;
beforeAll(async () => {
  ({ scene, usdc, payer } = await startPayerScene());
});

const whole = 25_000_000n;
const coins = { network: 'base', currency: 'ETH', amount: '0.01' };
const wei = 10n ** 16n;

/** The payment can still be paid: what happened before has not broken it. */
const expectPayable = async (payment: { id: string; address: string; currency: string }): Promise<void> => {
  if (payment.currency === 'ETH') await scene.chain.payCoin(payment.address, wei);
  else await scene.chain.payToken(usdc, payment.address, whole);
  expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null });
};

describe('failed or inner-reverted transaction counted', () => {
  test('tokens: a transaction that fails after the transfers', async () => {
    const payment = await scene.calls.made();
    const { status } = await payer.try('payTokensAndRevert', [usdc, [payment.address], [whole]]);
    expect(status).toBe('0x0');
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });

  test('tokens: an inner call that fails in a transaction that succeeds', async () => {
    const payment = await scene.calls.made();
    await payer.call('tryTokens', [usdc, [payment.address], [whole]]);
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });

  test('native coin: a transaction to the address itself that fails', async () => {
    const payment = await scene.calls.made(coins);
    // An address without code accepts every call. Once it has code, calls reserved for the factory fail.
    await scene.chain.payCoin(payment.address, 10n ** 14n);
    const { treasury, salt } = await scene.originOf(payment.id);
    await scene.chain.sweep(treasury, noToken, [salt]);
    const before = await until(
      () => scene.read(payment.id),
      ({ amountConfirmed }) => amountConfirmed === '0.0001',
    );
    const args = [noToken, treasury, 1n] as const;
    const data: Hex = encodeFunctionData({ abi: forwarderArtefact.abi, functionName: 'forward', args });
    const { status } = await scene.chain.send({ to: payment.address, data, value: wei });
    expect(status).toBe('0x0');
    await scene.processed();
    expect(withoutDepth(await scene.read(payment.id))).toEqual(withoutDepth(before));
    expect(await scene.kinds(payment.id)).toEqual(['created', 'detected', 'underpaid']);
  });

  test('native coin: a contract that fails after sending', async () => {
    const payment = await scene.calls.made(coins);
    const { status } = await payer.try('payCoinsAndRevert', [[payment.address], [wei]], wei);
    expect(status).toBe('0x0');
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });

  test('native coin: an inner call that fails in a transaction that succeeds', async () => {
    const payment = await scene.calls.made(coins);
    await payer.call('tryCoins', [[payment.address], [wei]], wei);
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });
});

describe('fake token, same symbol; forged log', () => {
  test('a token with the name, symbol and decimals of the right one', async () => {
    const payment = await scene.calls.made();
    const fake = await scene.chain.deploy('TestToken', ['Test USD Coin', 'USDC', 6]);
    await fake.call('mint', [payment.address, whole]);
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });

  test('a log of the right form from a contract that is no token', async () => {
    const payment = await scene.calls.made();
    const forger = await scene.chain.deploy('LogForger');
    await forger.call('forge', [payer.address, payment.address, whole]);
    await forger.call('forge', [usdc, payment.address, whole]);
    await scene.expectUntouched(payment);
    await expectPayable(payment);
  });
});

describe('zero-value poisoning, dust', () => {
  test('10,000 transfers of nothing change nothing', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made();
    for (let times = 0; times < 40; times++) {
      await payer.call('repeatTransfer', [usdc, payment.address, 0n, 250n]);
    }
    await scene.expectUntouched(payment);
    expect(await scene.transfers(payment.id)).toEqual([]);
    await expectPayable(payment);
  });

  test('a transaction of no native coin changes nothing', async () => {
    const payment = await scene.calls.made(coins);
    await scene.chain.payCoin(payment.address, 0n);
    await scene.expectUntouched(payment);
  });

  test('one base unit counts as one', async () => {
    const payment = await scene.calls.made();
    await scene.chain.payToken(usdc, payment.address, 1n);
    const dusty = await until(
      () => scene.read(payment.id),
      ({ transactions }) => transactions.length === 1,
    );
    expect(dusty).toMatchObject({
      status: 'pending',
      exception: null,
      amountReceived: '0.000001',
      transactions: [{ amount: '0.000001' }],
    });
    await scene.chain.payToken(usdc, payment.address, whole - 1n);
    expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
  });

  test('much dust neither hides what counts nor swells the events', async () => {
    const payment = await scene.calls.made();
    await payer.call('repeatTransfer', [usdc, payment.address, 1n, 300n]);
    await scene.chain.payToken(usdc, payment.address, whole);
    const paid = await scene.reach(payment.id, 'completed');
    expect(paid).toMatchObject({ exception: null, amountReceived: '25.0003' });
    expect(paid.transactions.map(({ amount }: { amount: string }) => amount)).toContain('25.00');
    for (const { body } of await scene.events(payment.id)) {
      expect(body.data.transactions.length).toBeLessThanOrEqual(100);
    }
  });

  test('the address is shown whole', async () => {
    const payment = await scene.calls.made();
    expect(payment.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(payment.paymentUri).toContain(payment.address);
  });
});
