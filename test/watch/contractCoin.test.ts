// @module-tag thorough
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { HDKey } from '@scure/bip32';
import { beforeAll, expect, test, vi } from 'vitest';
import { deriveXpubAddress } from '../../src/chains/evm/xpub.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { byContract, bySelfdestruct } from '../chains/sentByContract.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import type { Contract } from './chainCalls.ts';
import { localCaip2, startPayerScene, type WatchScene } from './watchScene.ts';

vi.setConfig({ testTimeout: 90_000 });

let scene: WatchScene;
let payer: Contract;
beforeAll(async () => {
  ({ scene, payer } = await startPayerScene());
});

const ofCoin = { currency: 'ETH', amount: '0.01' };
const wei = 10n ** 16n;
const pay = (address: string, amount = wei) => payer.call('payCoins', [[address], [amount]], amount);

/** An account whose payments on base use addresses of a new extended public key. */
const withKey = async () => {
  const xpub = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey;
  const account = await scene.florin.account();
  await setWallet(scene.florin.admin, { accountId: account.id, environment: 'sandbox' }, 'base', { xpub });
  return { xpub, calls: paymentCalls(scene.florin, account) };
};

const baselines = (address: string) =>
  scene.florin.admin.db.query<{ amount: string }>(
    {
      name: 'test-baselines',
      text: 'select amount::text from address_baselines where caip2 = $1 and address = $2',
    },
    [localCaip2, address],
  );

test('contract-sent coin to an address of an extended public key completes its payment, older coin does not', async () => {
  const { xpub, calls } = await withKey();
  const [first, older, last] = [0, 1, 149].map(index => deriveXpubAddress(xpub, index)) as [string, string, string];
  await pay(older, 5n * wei);
  await until(
    () => baselines(last),
    rows => rows.length === 1,
  );
  const created = await calls.made(ofCoin);
  expect(created.address).toBe(first);
  await pay(first);
  const reach = (id: string, status: string) =>
    until(
      async () => (await calls.read(id)).json,
      payment => payment.status === status,
    );
  expect(await reach(created.id, 'completed')).toMatchObject({ amountReceived: '0.01', exception: null });

  const second = await calls.made(ofCoin);
  expect(second.address).toBe(older);
  expect(await baselines(older)).toEqual([{ amount: `${5n * wei}` }]);
  await scene.processed();
  expect((await calls.read(second.id)).json).toMatchObject({ status: 'pending', amountReceived: '0.00' });
  await pay(older);
  expect(await reach(second.id, 'completed')).toMatchObject({ amountReceived: '0.01', exception: null });
});

test('without a baseline, coin on an address of an extended public key is unexplained and not credited', async () => {
  const { xpub, calls } = await withKey();
  const address = deriveXpubAddress(xpub, 0);
  const created = await calls.made(ofCoin);
  await scene.florin.admin.db.query(
    {
      name: 'test-late-baseline',
      text: `insert into address_baselines (caip2, address, amount, block_number, read_at)
        values ($1, $2, 0, 1, clock_timestamp()) on conflict (caip2, address) do update set read_at = clock_timestamp()`,
    },
    [localCaip2, address],
  );
  await pay(address);
  const unexplained = {
    name: 'test-unexplained',
    text: `select amount::text from differences where payment_id = $1 and resolved_at is null`,
  };
  await until(
    () => scene.florin.admin.db.query<{ amount: string }>(unexplained, [created.id]),
    rows => rows[0]?.amount === `${wei}`,
  );
  expect((await calls.read(created.id)).json).toMatchObject({ status: 'pending', amountReceived: '0.00' });
  expect(scene.errors.map(({ message }) => message)).toContain('an address holds funds that no transfer explains');
});

test('contract-sent coin to closed payments of the local chain is seen within a minute', async () => {
  const [canceled, completed, expired] = [
    await scene.calls.made(ofCoin),
    await scene.calls.made(ofCoin),
    await scene.calls.made({ ...ofCoin, expiresIn: 1 }),
  ];
  await scene.chain.payCoin(completed.address, wei);
  await scene.reach(completed.id, 'completed');
  await scene.reach(expired.id, 'expired');
  const key = scene.account.keys.sandbox;
  const answer = await scene.florin.client.call('POST', `/v1/payments/${canceled.id}/cancel`, { key });
  expect(answer.status, answer.text).toBe(200);
  // Blocks have whole seconds: one that is mined just after the payment's time may say that it was in time.
  await until(
    async () => {
      await scene.chain.mine(1);
      return (await scene.chain.head()).timestamp;
    },
    timestamp => timestamp * 1000 > Date.parse(expired.expiresAt),
  );
  for (const { address } of [canceled, completed, expired]) await pay(address);
  const seen = (id: string, exception: string) =>
    until(
      () => scene.read(id),
      payment => payment.exception === exception,
    );
  expect(await seen(canceled.id, 'late')).toMatchObject({ status: 'canceled', amountReceived: '0.01' });
  expect(await seen(completed.id, 'overpaid')).toMatchObject({ status: 'completed', amountReceived: '0.02' });
  expect(await seen(expired.id, 'late')).toMatchObject({ amountReceived: '0.01' });
});

test('contract-sent coin is seen for 200 payments, open and closed, of forwarders and of extended public keys', async () => {
  const { xpub, calls: ofKey } = await withKey();
  await until(
    () => baselines(deriveXpubAddress(xpub, 149)),
    rows => rows.length === 1,
  );
  type Made = { calls: typeof ofKey; id: string; address: string; isClosed: boolean; isDestroyed: boolean };
  const payments: Made[] = [];
  for (let at = 0; at < 200; at++) {
    const calls = at % 2 === 0 ? scene.calls : ofKey;
    const { id, address } = await calls.made(ofCoin);
    payments.push({ calls, id, address, isClosed: at % 4 >= 2, isDestroyed: at % 8 >= 4 });
  }
  for (const { calls, id } of payments.filter(({ isClosed }) => isClosed)) {
    const answer = await calls.act(id, 'cancel');
    expect(answer.status, answer.text).toBe(200);
  }
  for (const { address, isDestroyed } of payments) {
    const { status } = await scene.chain.send((isDestroyed ? bySelfdestruct : byContract)(address, wei));
    expect(status).toBe('0x1');
  }
  for (const { calls, id, isClosed } of payments) {
    const expected = isClosed ? ['canceled', 'late', '0.01'] : ['completed', null, '0.01'];
    await until(
      async () => (await calls.read(id)).json,
      ({ status, exception, amountReceived }) => isDeepStrictEqual([status, exception, amountReceived], expected),
    );
  }
});
