import { afterEach, describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/chain.ts';
import { eventually } from '../support/until.ts';
import { accounts } from './evmNode.ts';
import { type FaultKind, type FaultProxy, startFaultProxy, type Upstream } from './faultProxy.ts';
import {
  addressOf,
  type Follower,
  type FollowerOptions,
  startFollower,
  startTestChain,
  type TestChain,
} from './followScene.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Scene = {
  readonly chain: TestChain;
  readonly proxy: FaultProxy;
  readonly follower: Follower;
  readonly from: number;
};

/** A chain with this many unread blocks, with token and coin transfers. */
const prepare = async (
  unread: number,
  altered: (chain: TestChain) => Upstream = ({ upstream }) => upstream,
  options: Partial<FollowerOptions> = {},
) => {
  const chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  const { number, hash, parentHash } = await chain.blockAt('latest');
  const cursor: Block = { number: Number(number), hash, parentHash, timestamp: 0 };
  for (let at = 0; at < unread; at++) {
    const others = [chain.transfer(addressOf(`other ${at}`), 1n), chain.transfer(addressOf(`another ${at}`), 1n)];
    const paying = [chain.transfer(alice, BigInt(at + 1)), { to: bob, value: BigInt(at + 1) }];
    await chain.block(...(at % 3 === 0 ? [others[0]!, ...paying, others[1]!] : at % 3 === 1 ? others : []));
  }
  const proxy = await startFaultProxy(altered(chain), { seed: 'faults' });
  const following = { chain, rpcUrls: [proxy.url], known: [alice, bob], cursor, keep: 10_000 };
  const follower = startFollower({ ...following, ...options });
  ends.push(follower.stop, proxy.close);
  return { chain, proxy, follower, from: cursor.number + 1 };
};

/** Keeps the fault on until it was seen this often. No wrong answer may be accepted meanwhile. */
const outlast = async ({ proxy, follower, from }: Scene, kind: FaultKind, times: number): Promise<void> => {
  proxy.set({ [kind]: 1 });
  const caughtUp = follower.catchUp();
  await eventually(() => expect(proxy.counts().get(kind) ?? 0).toBeGreaterThanOrEqual(times));
  proxy.set({});
  await caughtUp;
  expect(follower.movements()).toEqual(await follower.walked(from));
  expect(follower.movements().length).toBeGreaterThan(0);
};

describe('near the head', () => {
  test.each<FaultKind>([
    'emptyLogs',
    'truncatedLogs',
    'nullReceipt',
    'nullBlock',
    'wrongChain',
    'malformed',
    'serverError',
    'limited',
    'cutConnection',
  ])('%s is waited out, and nothing is missing afterwards', async kind => {
    const scene = await prepare(9);
    await outlast(scene, kind, 3);
    expect(scene.follower.complaints.length).toBeGreaterThan(0);
  });

  test('a node that never answers is given up and asked again', async () => {
    const scene = await prepare(3, undefined, { answerTimeoutMs: 1_000 });
    await outlast(scene, 'silence', 1);
    expect(scene.follower.complaints).toContain('The node did not answer in time.');
  });

  test('a node that takes no batches is asked one by one', async () => {
    const { proxy, follower, from } = await prepare(9);
    proxy.set({ noBatches: 1 });
    await follower.catchUp();
    expect(proxy.counts().get('noBatches')).toBeGreaterThan(0);
    expect(follower.movements()).toEqual(await follower.walked(from));
    expect(follower.complaints).toEqual([]);
  });

  test.each([0, 1])('log %i of two that the filter of the block does not tell apart is missed', async hidden => {
    let isHiding = true;
    const hiding =
      (chain: TestChain): Upstream =>
      async (method, params) => {
        const outcome = await chain.upstream(method, params);
        if (method !== 'eth_getLogs' || !isHiding || 'error' in outcome) return outcome;
        return { result: (outcome.result as unknown[]).filter((_, at) => at !== hidden) };
      };
    const { chain, follower, from } = await prepare(0, hiding);
    // The bloom filter is the same with one of them.
    await chain.block(chain.transfer(alice, 5n), chain.transfer(alice, 6n));
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints.length).toBeGreaterThan(1));
    isHiding = false;
    await caughtUp;
    expect(follower.movements().map(({ amount }) => amount)).toEqual(expect.arrayContaining([5n, 6n]));
    expect(follower.movements()).toEqual(await follower.walked(from));
  });
});

describe('in ranges', { tags: ['thorough'] }, () => {
  test.each<FaultKind>(['emptyLogs', 'truncatedLogs', 'nullBlock', 'nullReceipt'])(
    '%s is waited out, and nothing is missing afterwards',
    async kind => {
      const scene = await prepare(120);
      await outlast(scene, kind, kind === 'nullBlock' ? 3 : 20);
    },
  );

  test('a node that clamps every range costs more questions and no movement', async () => {
    const { proxy, follower, from } = await prepare(150);
    proxy.set({ clampedRange: 1 });
    await follower.catchUp();
    expect(proxy.counts().get('clampedRange')).toBeGreaterThan(0);
    expect(follower.movements()).toEqual(await follower.walked(from));
  });

  test('a node that refuses ranges is asked block by block', async () => {
    const refusing =
      (chain: TestChain): Upstream =>
      async (method, params) =>
        method === 'eth_getLogs' && (params[0] as { fromBlock?: string }).fromBlock !== undefined
          ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
          : chain.upstream(method, params);
    const { follower, from } = await prepare(150, refusing);
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(from));
    expect(follower.complaints).toEqual([]);
  });

  /** Providers that cap their answers silently. */
  test.each([1, 7, 40])('an answer that is cut off after %i logs is noticed', async cap => {
    const capping =
      (chain: TestChain): Upstream =>
      async (method, params) => {
        const outcome = await chain.upstream(method, params);
        if (method !== 'eth_getLogs' || 'error' in outcome) return outcome;
        const isRange = (params[0] as { fromBlock?: string }).fromBlock !== undefined;
        return isRange ? { result: (outcome.result as unknown[]).slice(0, cap) } : outcome;
      };
    const { follower, from } = await prepare(150, capping);
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(from));
  });

  test('a log that a wide range lacks and a narrow one has is found', async () => {
    const hiding =
      (chain: TestChain): Upstream =>
      async (method, params) => {
        const outcome = await chain.upstream(method, params);
        if (method !== 'eth_getLogs' || 'error' in outcome) return outcome;
        const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string };
        const isWide = Number(toBlock) - Number(fromBlock) > 60;
        const logs = outcome.result as { logIndex: string }[];
        return isWide ? { result: logs.filter(({ logIndex }) => logIndex !== '0x1') } : outcome;
      };
    const { follower, from } = await prepare(150, hiding);
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(from));
  });
});

test('many kinds at once, drawn from a seed, cost time and nothing else', async () => {
  const scene = await prepare(20);
  const { chain, proxy, follower, from } = scene;
  proxy.set({
    emptyLogs: 0.03,
    truncatedLogs: 0.03,
    nullBlock: 0.01,
    nullReceipt: 0.03,
    staleHead: 0.2,
    malformed: 0.01,
  });
  for (let round = 0; round < 3; round++) {
    await follower.catchUp();
    for (let at = 0; at < 4; at++) await chain.block(chain.transfer(alice, BigInt(at + 1)), { to: bob, value: 3n });
  }
  proxy.set({});
  await follower.catchUp();
  expect(proxy.faulty()).toBeGreaterThan(0);
  expect(follower.movements()).toEqual(await follower.walked(from));
});
