// @module-tag thorough
import { beforeAll, describe, expect, test } from 'vitest';
import { expectError } from '../api/paymentCalls.ts';
import { until } from '../support/until.ts';
import type { Contract } from './chainCalls.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { startWatchScene, type WatchScene } from './watchScene.ts';

/** Listed tokens that are not what the registry says: one misbehaves, one has other decimals, one is not there. */
let scene: WatchScene;
let avalanche: FarChain;
let base: FarChain;
let odd: Contract;
beforeAll(async () => {
  [avalanche, base] = [await startFarChain('avalanche'), await startFarChain('base')];
  await avalanche.placeCode('USDC', 'OddToken');
  await avalanche.placeToken('EURC', 18);
  await base.placeToken('EURC', 6);
  odd = avalanche.chain.at('OddToken', avalanche.token('USDC'));
  const sandbox = { avalanche: { rpcUrls: [avalanche.url] }, base: { rpcUrls: [base.url] } };
  scene = await startWatchScene({ configFile: { networks: { sandbox } } });
  for (const fields of [ordinary, { ...ordinary, currency: 'EURC', network: 'base' }]) {
    await until(
      () => scene.calls.create(fields),
      ({ status }) => status === 200,
    );
  }
});

const ordinary = { network: 'avalanche', currency: 'USDC', amount: '25' };
const whole = 25_000_000n;
const processed = (): Promise<void> => scene.processed(avalanche);

const expectUntouched = async (payment: { id: string }): Promise<void> => {
  await avalanche.chain.mine(3);
  await processed();
  expect(await scene.read(payment.id)).toEqual(payment);
  expect(await scene.kinds(payment.id)).toEqual(['created']);
};

/** It shows the token's claim and never treats it as final. */
const expectNeverFinal = async (payment: { id: string }): Promise<void> => {
  await scene.reach(payment.id, 'confirming');
  await avalanche.chain.mine(10);
  await processed();
  expect(await scene.read(payment.id)).toMatchObject({
    status: 'confirming',
    amountReceived: '25.00',
    amountConfirmed: '0.00',
    completedAt: null,
  });
  expect(await scene.kinds(payment.id)).toEqual(['created', 'detected', 'confirming']);
};

describe('transfer returns false; no log', () => {
  test('a transaction that succeeds and moved nothing is not counted', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('transfer', [payment.address, whole]);
    await expectUntouched(payment);
  });

  test('a log without the tokens never completes a payment', async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('pretend', [payment.address, whole]);
    await expectNeverFinal(payment);
  });

  test('a transfer whose tokens are there completes it', async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('transferRightly', [payment.address, whole]);
    expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null, amountConfirmed: '25.00' });
  });
});

describe('fake token, same symbol; forged log', () => {
  test('Transfer logs of another form are none, even from the listed contract', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('logMisshapen', [payment.address, whole]);
    await expectUntouched(payment);
  });
});

describe('fee-on-transfer, rebasing token', () => {
  test('tokens that arrive short of what was logged never complete a payment', async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('transferWithFee', [payment.address, whole]);
    await expectNeverFinal(payment);
  });

  test('a balance that grows by itself is no payment, and one that shrinks takes none back', {
    tags: ['thorough'],
  }, async () => {
    const payment = await scene.calls.made(ordinary);
    await odd.call('rebase', [payment.address, whole]);
    await expectUntouched(payment);
    await odd.call('transferRightly', [payment.address, whole]);
    const paid = await scene.reach(payment.id, 'completed');
    await odd.call('rebase', [payment.address, 0n]);
    await avalanche.chain.mine(3);
    await processed();
    expect(await scene.read(payment.id)).toMatchObject({ status: 'completed', amountReceived: paid.amountReceived });
  });
});

describe('a listed token that reports more than any amount', () => {
  const most = 2n ** 256n - 1n;
  const shown = `1${'0'.repeat(48)}.00`;

  test('is recorded as the most that is, is never final, and stops neither the payment nor the chain', async () => {
    const [payment, other] = [await scene.calls.made(ordinary), await scene.calls.made(ordinary)];
    await odd.call('transferRightly', [payment.address, most]);
    await odd.call('pretend', [payment.address, most]);
    await avalanche.chain.mine(10);
    await processed();
    expect(await scene.read(payment.id)).toMatchObject({
      status: 'confirming',
      exception: 'overpaid',
      amountReceived: shown,
      amountConfirmed: '0.00',
      transactions: [
        { amount: shown, status: 'confirming' },
        { amount: shown, status: 'confirming' },
      ],
    });
    const recorded = await scene.transfers(payment.id);
    expect(recorded.map(({ amount, verified }) => [amount, verified])).toEqual(
      Array(2).fill([(10n ** 54n).toString(), false]),
    );
    await odd.call('transferRightly', [other.address, whole]);
    expect(await scene.reach(other.id, 'completed')).toMatchObject({ exception: null });
    expect(scene.errors.map(({ message }) => message)).not.toContain(
      'a payment that received funds could not be advanced',
    );
  });

  test('is a stray like any other for a payment in something else', async () => {
    const payment = await scene.calls.made({ network: 'avalanche', currency: 'AVAX', amount: '1' });
    await odd.call('pretend', [payment.address, most]);
    await processed();
    const { strays } = await scene.read(payment.id);
    expect(strays).toMatchObject([{ contract: avalanche.token('USDC'), amount: shown }]);
    await avalanche.chain.payCoin(payment.address, 10n ** 18n);
    expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null, amountReceived: '1.00' });
  });
});

describe('decimals wrong in config', () => {
  const symbolsOf = async (slug: string): Promise<string[]> => {
    const { json } = await scene.florin.client.call('GET', `/v1/networks/${slug}`);
    return json.currencies.map(({ symbol }: { symbol: string }) => symbol);
  };

  test('the pair is disabled, and the message says which and why', async () => {
    const answer = await scene.calls.create({ ...ordinary, currency: 'EURC' });
    expectError(answer, 503, 'network_unavailable');
    const { message } = answer.json.error;
    for (const part of ['EURC', 'avalanche', avalanche.token('EURC'), '18 decimals instead of 6']) {
      expect(message).toContain(part);
    }
    expect(await symbolsOf('avalanche')).toEqual(['AVAX', 'USDC']);
    expect(scene.errors).toContainEqual({
      fields: expect.objectContaining({ caip2: avalanche.caip2, contract: avalanche.token('EURC') }),
      message: 'a currency is disabled',
    });
  });

  test('a token that is not there is disabled as well', async () => {
    const answer = await scene.calls.create({ ...ordinary, network: 'base' });
    expectError(answer, 503, 'network_unavailable');
    expect(answer.json.error.message).toContain(`There is no token at ${base.token('USDC')}`);
    expect(await symbolsOf('base')).toEqual(['ETH', 'EURC']);
  });

  test('the other currencies of the network go on', async () => {
    const payment = await scene.calls.made({ ...ordinary, network: 'base', currency: 'EURC' });
    await base.chain.payToken(base.token('EURC'), payment.address, whole);
    expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
    const coin = await scene.calls.made({ network: 'avalanche', currency: 'AVAX', amount: '1' });
    await avalanche.chain.payCoin(coin.address, 10n ** 18n);
    expect(await scene.reach(coin.id, 'completed')).toMatchObject({ exception: null, amountReceived: '1.00' });
  });
});
