import { inspect } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { dumpDatabase } from '../support/dumpDatabase.ts';
import { eventually, until } from '../support/until.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { type Payment, startWatchScene, type WatchScene } from './watchScene.ts';

/** A key as node URLs contain it. */
const providerKey = 'k3y-0f-4-pr0v1d3r';
/** A chain counts as current for a minute after its newest block. This one's newest block is older from the start. */
const stillSeconds = 55;
let scene: WatchScene;
let far: FarChain;
let still: FarChain;
/** Created after `still` mined its last block, with an expiry later than it counts as current. */
let stranded: Payment;
beforeAll(async () => {
  [far, still] = [await startFarChain('arbitrum'), await startFarChain('avalanche', stillSeconds)];
  for (const chain of [far, still]) await chain.placeToken('USDC', 6);
  const sandbox = { arbitrum: { rpcUrls: [`${far.url}/${providerKey}`] }, avalanche: { rpcUrls: [still.url] } };
  scene = await startWatchScene({ configFile: { networks: { sandbox } } });
  await made({});
  await still.chain.mine();
  stranded = await made({ network: 'avalanche', expiresIn: 8 });
});

const ofTokens = { network: 'arbitrum', currency: 'USDC', amount: '25' };
const ofCoin = { network: 'arbitrum', currency: 'ETH', amount: '0.01' };

/** Creates a payment, once the network has been measured. */
const made = async (fields: object): Promise<Payment> =>
  (
    await until(
      () => scene.calls.create({ ...ofTokens, ...fields }),
      ({ status }) => status === 200,
    )
  ).json;

/** Waits until the payment's time is over by the database's clock. */
const pastTime = async ({ id }: Payment): Promise<void> => {
  const text = `select clock_timestamp() > expires_at + interval '2 seconds' as over from payments where id = $1`;
  await eventually(async () => {
    const [row] = await scene.florin.admin.db.query<{ over: boolean }>({ name: 'watch-over', text }, [id]);
    expect(row!.over).toBe(true);
  });
};

type Sight = { readonly shown: Payment; readonly kinds: readonly string[] };
const look = async ({ id }: Payment): Promise<Sight> => ({ shown: await scene.read(id), kinds: await scene.kinds(id) });
const expectWaiting = (created: Payment, sight: Sight | undefined): void =>
  expect(sight).toEqual({ shown: created, kinds: ['created'] });

describe('expiry race, clock jump, halted or lagging chain', () => {
  const kinds = ['tokens', 'native coin'] as const;
  type Kind = (typeof kinds)[number];
  let unpaid: Record<Kind, Payment>;
  let paid: Record<Kind | 'by a contract', Payment>;
  let local: Payment;
  /** Their state when their time was over and no chain answered. */
  const meanwhile = new Map<string, Sight>();

  /** One outage for all tests; each checks its own payment. */
  beforeAll(async () => {
    const payer = await far.chain.deploy('ContractPayer');
    const wei = 10n ** 16n;
    const [short, long] = [{ expiresIn: 3 }, { expiresIn: 5 }];
    unpaid = { tokens: await made(short), 'native coin': await made({ ...ofCoin, ...short }) };
    paid = {
      tokens: await made(long),
      'native coin': await made({ ...ofCoin, ...long }),
      'by a contract': await made({ ...ofCoin, ...long }),
    };
    local = await scene.calls.made({ expiresIn: 2 });
    const pid = scene.florin.florin.devChainPid()!;
    far.answers(false);
    process.kill(pid, 'SIGSTOP');
    try {
      await far.chain.payToken(far.token('USDC'), paid.tokens.address, 25_000_000n);
      await far.chain.payCoin(paid['native coin'].address, wei);
      await payer.call('payCoins', [[paid['by a contract'].address], [wei]], wei);
      for (const created of [...Object.values(unpaid), ...Object.values(paid), local]) {
        await pastTime(created);
        meanwhile.set(created.id, await look(created));
      }
    } finally {
      far.answers(true);
      process.kill(pid, 'SIGCONT');
    }
    await far.chain.mine();
  });

  test.each(kinds)('%s: a payment does not expire while its chain does not answer', async kind => {
    expectWaiting(unpaid[kind], meanwhile.get(unpaid[kind].id));
    await scene.reach(unpaid[kind].id, 'expired');
    expect(await scene.kinds(unpaid[kind].id)).toEqual(['created', 'expired']);
  });

  test.each(kinds)('%s: funds of a block in time are in time, however late it is read', async kind => {
    const created = paid[kind];
    expectWaiting(created, meanwhile.get(created.id));
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: created.amount });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
  });

  test('native coin that a contract sent in time is in time, however late it is found', async () => {
    const created = paid['by a contract'];
    expectWaiting(created, meanwhile.get(created.id));
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '0.01' });
  });

  test('a local chain whose process is held up holds expiry back', async () => {
    expectWaiting(local, meanwhile.get(local.id));
    await scene.reach(local.id, 'expired');
  });

  test('an idle local chain that answers lets time pass', async () => {
    const created = await made({ network: 'base', expiresIn: 1 });
    await scene.reach(created.id, 'expired');
    expect(await scene.kinds(created.id)).toEqual(['created', 'expired']);
  });

  test('a chain that answers and makes no blocks holds expiry back', async () => {
    await pastTime(stranded);
    expectWaiting(stranded, await look(stranded));
    const { json } = await scene.florin.client.call('GET', '/v1/networks/avalanche');
    expect(json).toMatchObject({ status: 'degraded' });
    await still.chain.request('evm_increaseTime', stillSeconds);
    await still.chain.mine();
    await scene.reach(stranded.id, 'expired');
  });
});

describe('head minutes old counted as current', () => {
  test('a payment mined in time that a lagging node shows after its time completes and never expires', {
    tags: ['thorough'],
  }, async () => {
    await far.chain.mine();
    const created = await made({ expiresIn: 4 });
    await pastTime(created);
    // The newest block that the node shows is seconds old. It says nothing about the time since.
    await scene.processed();
    expectWaiting(created, await look(created));
    const inTime = Math.floor(Date.parse(created.expiresAt) / 1000) - 1;
    await far.chain.request('evm_setNextBlockTimestamp', inTime);
    await far.chain.payToken(far.token('USDC'), created.address, 25_000_000n);
    await far.chain.mine();
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'completed']);
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
