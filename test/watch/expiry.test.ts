import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../api/paymentCalls.ts';
import { dumpDatabase } from '../support/dumpDatabase.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { type Payment, startWatchScene, type WatchScene } from './watchScene.ts';

// One of these waits until a chain without new blocks is taken for halted.
vi.setConfig({ testTimeout: 120_000 });

/** Addresses of nodes hold such keys. */
const providerKey = 'k3y-0f-4-pr0v1d3r';
let scene: WatchScene;
let far: FarChain;
let still: FarChain;
/** Made when `still` had mined its last block, with more time than such a chain is believed to be current. */
let stranded: Payment;
beforeAll(async () => {
  [far, still] = [await startFarChain('arbitrum'), await startFarChain('avalanche')];
  for (const chain of [far, still]) await chain.placeToken('USDC', 6);
  const sandbox = { arbitrum: { rpcUrls: [`${far.url}/${providerKey}`] }, avalanche: { rpcUrls: [still.url] } };
  scene = await startWatchScene({ configFile: { networks: { sandbox } } });
  await made({});
  await still.chain.mine();
  stranded = await made({ network: 'avalanche', expiresIn: 63 });
});
afterAll(async () => {
  await scene.stop();
  await Promise.all([far.close(), still.close()]);
});

const ofTokens = { network: 'arbitrum', currency: 'USDC', amount: '25' };
const ofCoin = { network: 'arbitrum', currency: 'ETH', amount: '0.01' };
const kinds = [
  ['tokens', ofTokens],
  ['native coin', ofCoin],
] as const;

/** Asks until the network has been looked at. */
const made = async (fields: object): Promise<Payment> =>
  (
    await until(
      () => scene.calls.create({ ...ofTokens, ...fields }),
      ({ status }) => status === 200,
    )
  ).json;

/** By the database's clock the payment's time has been over for a while. */
const pastTime = async ({ id }: Payment, timeoutMs = 40_000): Promise<void> => {
  const text = `select clock_timestamp() > expires_at + interval '2 seconds' as over from payments where id = $1`;
  await vi.waitFor(
    async () => {
      const [row] = await scene.florin.admin.db.query<{ over: boolean }>({ name: 'watch-over', text }, [id]);
      expect(row!.over).toBe(true);
    },
    { timeout: timeoutMs, interval: 100 },
  );
};

const expectWaiting = async (created: Payment): Promise<void> => {
  expect(await scene.read(created.id)).toEqual(created);
  expect(await scene.kinds(created.id)).toEqual(['created']);
};

const pay = (created: Payment) =>
  created.currency === 'ETH'
    ? far.chain.payCoin(created.address, 10n ** 16n)
    : far.chain.payToken(far.token('USDC'), created.address, 25_000_000n);

describe('expiry race, clock jump, halted or lagging chain', () => {
  test.each(kinds)('%s: a payment does not expire while its chain does not answer', async (_, fields) => {
    const created = await made({ ...fields, expiresIn: 3 });
    far.answers(false);
    await pastTime(created);
    await expectWaiting(created);
    far.answers(true);
    await far.chain.mine();
    await scene.reach(created.id, 'expired');
    expect(await scene.kinds(created.id)).toEqual(['created', 'expired']);
  });

  test.each(kinds)('%s: funds of a block in time are in time, however late it is read', async (_, fields) => {
    const created = await made({ ...fields, expiresIn: 6 });
    far.answers(false);
    await pay(created);
    await pastTime(created);
    await expectWaiting(created);
    far.answers(true);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: created.amount });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  });

  test('native coin that a contract sent in time is in time, however late it is found', async () => {
    const payer = await far.chain.deploy('ContractPayer');
    const created = await made({ ...ofCoin, expiresIn: 6 });
    far.answers(false);
    await payer.call('payCoins', [[created.address], [10n ** 16n]], 10n ** 16n);
    await pastTime(created);
    await expectWaiting(created);
    far.answers(true);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '0.01' });
  });

  test('a local chain whose process is held up holds expiry back', async () => {
    const created = await scene.calls.made({ expiresIn: 2 });
    const pid = scene.florin.florin.devChainPid()!;
    process.kill(pid, 'SIGSTOP');
    try {
      await pastTime(created);
      await expectWaiting(created);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await scene.reach(created.id, 'expired');
  });

  test('an idle local chain that answers lets time pass', async () => {
    const created = await scene.calls.made({ expiresIn: 1 });
    await scene.reach(created.id, 'expired');
    expect(await scene.kinds(created.id)).toEqual(['created', 'expired']);
  });

  test('a chain that answers and makes no blocks holds expiry back', async () => {
    await pastTime(stranded, 100_000);
    await expectWaiting(stranded);
    const { json } = await scene.florin.client.call('GET', '/v1/networks/avalanche');
    expect(json).toMatchObject({ status: 'degraded' });
    await still.chain.mine();
    await scene.reach(stranded.id, 'expired');
  });
});

describe('leaked secret in logs, errors, dumps', () => {
  test('the address of a node, which holds a key, is told to nobody', async () => {
    expect(scene.logged.map(({ message }) => message)).toContain('a node gave no usable answer');
    expect(inspect(scene.logged, { depth: 10, maxArrayLength: null, maxStringLength: null })).not.toContain(
      providerKey,
    );
    expect(await dumpDatabase(scene.florin.admin.db)).not.toContain(providerKey);
    expect((await scene.florin.client.call('GET', '/v1/networks')).text).not.toContain(providerKey);
  });
});
