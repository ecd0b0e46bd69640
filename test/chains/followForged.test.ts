import { afterEach, describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/chain.ts';
import { eventually } from '../support/until.ts';
import { accounts } from './evmNode.ts';
import { startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, type FollowerOptions, startFollower, startTestChain, type TestChain } from './followScene.ts';

const alice = addressOf('alice');

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Log = { readonly address: string; readonly blockNumber: string; readonly logIndex: string };
type Change = (log: Log, isRange: boolean) => Log | null;

/** A node whose answers about logs are made up in part. */
const forging =
  ({ upstream }: TestChain, change: Change): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (method !== 'eth_getLogs' || 'error' in outcome) return outcome;
    const isRange = (params[0] as { fromBlock?: string }).fromBlock !== undefined;
    return { result: (outcome.result as Log[]).flatMap(log => change(log, isRange) ?? []) };
  };

const begin = async (options: { finalityLag?: number } = {}): Promise<TestChain> => {
  const chain = await startTestChain(options);
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  return chain;
};
const cursorOf = async (chain: TestChain): Promise<Block> => {
  const { number, hash, parentHash } = await chain.blockAt('latest');
  return { number: Number(number), hash, parentHash, timestamp: 0 };
};
const follow = async (chain: TestChain, upstream: Upstream, options: Partial<FollowerOptions> = {}) => {
  const proxy = await startFaultProxy(upstream, { seed: 'forged' });
  const follower = startFollower({ chain, rpcUrls: [proxy.url], known: [alice], keep: 10_000, ...options });
  ends.push(follower.stop, proxy.close);
  return follower;
};

describe('logs of a block', () => {
  test('that are told as those of another contract, in their place, are noticed by the filter', async () => {
    const chain = await begin();
    const cursor = await cursorOf(chain);
    let isForging = true;
    const change: Change = log => (isForging ? { ...log, address: addressOf('another token') } : log);
    const follower = await follow(chain, forging(chain, change), { cursor });
    await chain.block(chain.transfer(alice, 5n), chain.transfer(addressOf('bob'), 6n));
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints.length).toBeGreaterThan(1));
    expect(follower.movements()).toEqual([]);
    isForging = false;
    await caughtUp;
    expect(follower.movements().map(({ amount }) => amount)).toEqual([5n]);
  });

  test('in ranges that all end within one and the same block are found', async () => {
    const chain = await begin();
    const cursor = await cursorOf(chain);
    for (let at = 0; at < 100; at++) {
      const two = [chain.transfer(addressOf('bob'), 1n), chain.transfer(alice, BigInt(at + 1))];
      await chain.block(...(at <= 40 ? two : []));
    }
    // Like a node whose log index stopped there, in the middle of a block.
    const [end, place] = [cursor.number + 41, 0];
    const change: Change = (log, isRange) => {
      const isBeyond =
        Number(log.blockNumber) > end || (Number(log.blockNumber) === end && Number(log.logIndex) > place);
      return isRange && isBeyond ? null : log;
    };
    const follower = await follow(chain, forging(chain, change), { cursor });
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(cursor.number + 1));
    expect(follower.movements()).toHaveLength(41);
  });
});

describe('a node that has ceased to tell what is final', () => {
  const lag = 3;
  const start = async () => {
    const chain = await begin({ finalityLag: lag });
    await chain.mine(20);
    let hasTags = true;
    const upstream: Upstream = async (method, params) =>
      !hasTags && (params[0] === 'finalized' || params[0] === 'safe')
        ? { error: { code: -32602, message: 'unknown tag' } }
        : chain.upstream(method, params);
    const follower = await follow(chain, upstream, { isQuiet: false });
    await follower.catchUp();
    const height = await chain.head();
    expect(follower.taken.at(-1)).toMatchObject({ tags: { finalized: height - lag } });
    hasTags = false;
    return { chain, follower, height };
  };

  test('does not lead below what was final before', async () => {
    const { chain, follower, height } = await start();
    await chain.rewind(height - lag - 1);
    await chain.mine(lag + 3);
    const step = await follower.until(({ kind }) => kind !== 'idle');
    expect(step).toMatchObject({ kind: 'halt', reason: expect.stringContaining(`block ${height - lag}`) });
  });

  test('may lead down to it', async () => {
    const { chain, follower, height } = await start();
    await chain.rewind(height - lag);
    await chain.mine(lag + 3);
    const step = await follower.until(({ kind }) => kind !== 'idle');
    expect(step).toMatchObject({ kind: 'blocks', rollbackTo: { number: height - lag } });
  });
});
