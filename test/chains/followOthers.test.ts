import { afterEach, expect, test } from 'vitest';
import type { Block } from '../../src/core/chain.ts';
import { accounts } from './evmNode.ts';
import { startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, startFollower, startTestChain, type TestChain } from './followScene.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const follow = async (chain: TestChain, nodes: readonly Upstream[], cursor: Block) => {
  const proxies = await Promise.all(nodes.map(node => startFaultProxy(node, { seed: 'others' })));
  const rpcUrls = proxies.map(({ url }) => url);
  const follower = startFollower({ chain, rpcUrls, known: [alice, bob], cursor, keep: 10_000 });
  ends.push(follower.stop, ...proxies.map(({ close }) => close));
  return follower;
};

const prepare = async (): Promise<{ chain: TestChain; cursor: Block }> => {
  const chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  const { number, hash, parentHash } = await chain.blockAt('latest');
  return { chain, cursor: { number: Number(number), hash, parentHash, timestamp: 0 } };
};

/** A node that has lost the second log of every block, in range requests. */
const forgetful =
  ({ upstream }: TestChain): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    const { fromBlock } = (params[0] ?? {}) as { fromBlock?: string };
    if (method !== 'eth_getLogs' || fromBlock === undefined || 'error' in outcome) return outcome;
    return { result: (outcome.result as { logIndex: string }[]).filter(({ logIndex }) => logIndex !== '0x1') };
  };

/** A node whose newest block is this one. */
const upTo =
  ({ upstream }: TestChain, height: number): Upstream =>
  (method, params) =>
    upstream(
      method,
      params.map(param => (param === 'latest' ? `0x${height.toString(16)}` : param)),
    );

test('a log that the node has lost for good is found where another tells of it', async () => {
  const { chain, cursor } = await prepare();
  for (let at = 1n; at <= 50n; at++) await chain.block(chain.transfer(alice, at), chain.transfer(bob, at));
  await chain.mine(40);
  const follower = await follow(chain, [forgetful(chain), chain.upstream], cursor);
  await follower.catchUp();
  expect(follower.movements()).toEqual(await follower.walked(cursor.number + 1));
  expect(follower.movements().filter(({ to }) => to === bob)).toHaveLength(50);
});

test('one of three that is alone far ahead is not followed', async () => {
  const { chain, cursor } = await prepare();
  await chain.mine(5);
  const height = await chain.head();
  await chain.mine(20);
  const behind = upTo(chain, height);
  const follower = await follow(chain, [chain.upstream, behind, behind], cursor);
  const { at } = (await follower.until(step => step.kind === 'idle')) as { at: Block };
  expect(at.number).toBe(height);
});

test('one of two that is far ahead is followed, or one that is stuck would stop the chain', async () => {
  const { chain, cursor } = await prepare();
  await chain.mine(5);
  const height = await chain.head();
  await chain.mine(20);
  const stuck = upTo(chain, height);
  const follower = await follow(chain, [stuck, chain.upstream], cursor);
  const { at } = (await follower.until(step => step.kind === 'idle')) as { at: Block };
  expect(at.number).toBe(height + 20);
});
