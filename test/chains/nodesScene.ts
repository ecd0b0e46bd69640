import { afterEach } from 'vitest';
import { accounts } from './evmNode.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, type FollowerOptions, startFollower, startTestChain, type TestChain } from './followScene.ts';

const alice = addressOf('alice');

/** Created for each test. */
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

export const serve = async (upstream: Upstream, options: Partial<FaultProxyOptions> = {}): Promise<FaultProxy> => {
  const proxy = await startFaultProxy(upstream, { seed: 'nodes', ...options });
  ends.push(proxy.close);
  return proxy;
};

export const follow = (chain: TestChain, proxies: readonly FaultProxy[], options: Partial<FollowerOptions> = {}) => {
  const rpcUrls = proxies.map(({ url }) => url);
  const follower = startFollower({ chain, rpcUrls, known: [alice], ...options });
  ends.push(follower.stop);
  return follower;
};

/** A chain with some blocks and money in it. */
export const prepare = async (options: { finalityLag?: number } = {}): Promise<TestChain> => {
  const chain = await startTestChain(options);
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  return chain;
};

/** A node that has stopped at a height. */
export const behind =
  ({ upstream, head }: TestChain, limit: () => number): Upstream =>
  async (method, params) => {
    if (method !== 'eth_getBlockByNumber') return upstream(method, params);
    const [tag, full] = params;
    const top = Math.min(limit(), await head());
    if (typeof tag === 'string' && tag.startsWith('0x') && Number(tag) > top) return { result: null };
    return upstream(method, [tag === 'latest' ? `0x${top.toString(16)}` : tag, full]);
  };

export const pay = (chain: TestChain, amount: bigint) => chain.block(chain.transfer(alice, amount));
