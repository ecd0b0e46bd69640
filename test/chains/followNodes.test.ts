import { afterEach, describe, expect, test, vi } from 'vitest';
import { accounts } from './evmNode.ts';
import { type FaultProxy, type FaultProxyOptions, forkOf, startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, type FollowerOptions, startFollower, startTestChain, type TestChain } from './followScene.ts';

const alice = addressOf('alice');

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const serve = async (upstream: Upstream, options: Partial<FaultProxyOptions> = {}): Promise<FaultProxy> => {
  const proxy = await startFaultProxy(upstream, { seed: 'nodes', ...options });
  ends.push(proxy.close);
  return proxy;
};

const follow = (chain: TestChain, proxies: readonly FaultProxy[], options: Partial<FollowerOptions> = {}) => {
  const rpcUrls = proxies.map(({ url }) => url);
  const follower = startFollower({ chain, rpcUrls, known: [alice], ...options });
  ends.push(follower.stop);
  return follower;
};

const prepare = async (options: { finalityLag?: number } = {}): Promise<TestChain> => {
  const chain = await startTestChain(options);
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  return chain;
};

/** A node that has not come further than a height. */
const behind =
  ({ upstream, head }: TestChain, limit: () => number): Upstream =>
  async (method, params) => {
    if (method !== 'eth_getBlockByNumber') return upstream(method, params);
    const [tag, full] = params;
    const top = Math.min(limit(), await head());
    if (typeof tag === 'string' && tag.startsWith('0x') && Number(tag) > top) return { result: null };
    return upstream(method, [tag === 'latest' ? `0x${top.toString(16)}` : tag, full]);
  };

const pay = (chain: TestChain, amount: bigint) => chain.block(chain.transfer(alice, amount));

describe('agreement', () => {
  test('of a single node is its own word', async () => {
    const chain = await prepare();
    const follower = follow(chain, [await serve(chain.upstream)]);
    const { tags } = await follower.catchUp();
    expect(tags.agreed).toBeGreaterThanOrEqual(await chain.head());
  });

  test('of two lags until both have the block, and never falls because one lags again', async () => {
    const chain = await prepare();
    const height = await chain.head();
    let limit = height;
    const follower = follow(chain, [await serve(chain.upstream), await serve(behind(chain, () => limit))]);
    expect((await follower.catchUp()).tags.agreed).toBe(height);
    for (const amount of [1n, 2n, 3n, 4n]) await pay(chain, amount);
    expect((await follower.catchUp()).tags.agreed).toBe(height);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    limit = height + 2;
    await follower.until(step => step.kind === 'idle' && step.tags.agreed === height + 2);
    limit = height + 4;
    await follower.until(step => step.kind === 'idle' && step.tags.agreed === height + 4);
    limit = height + 1;
    await follower.next();
    expect(await follower.next()).toMatchObject({ kind: 'idle', tags: { agreed: height + 4 } });
  });

  test('falls to the fork with a reorg', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const follower = follow(chain, [await serve(chain.upstream), await serve(chain.upstream)]);
    await pay(chain, 1n);
    await pay(chain, 2n);
    expect((await follower.catchUp()).tags.agreed).toBe(height + 2);
    await chain.rewind(height);
    for (const amount of [3n, 4n, 5n]) await pay(chain, amount);
    const back = await follower.until(({ kind }) => kind === 'blocks');
    expect(back).toMatchObject({ rollbackTo: { number: height }, tags: { agreed: height } });
    expect((await follower.catchUp()).tags.agreed).toBe(height + 3);
  });

  test('of what is read comes along while the head is still far', async () => {
    const chain = await prepare();
    const { number, hash, parentHash } = await chain.blockAt('latest');
    const cursor = { number: Number(number), hash, parentHash, timestamp: 0 };
    await chain.mine(200);
    const follower = follow(chain, [await serve(chain.upstream), await serve(chain.upstream)], { cursor });
    const step = await follower.next();
    expect(step).toMatchObject({ kind: 'blocks', tags: { agreed: cursor.number } });
  });

  test('is not reached while one of two is down, and its absence shows', async () => {
    const chain = await prepare();
    const down = await serve(chain.upstream, { faults: { serverError: 1 } });
    const follower = follow(chain, [down, await serve(chain.upstream)]);
    await pay(chain, 1n);
    expect((await follower.catchUp()).tags.agreed).toBeNull();
    expect(follower.driver.health()).toMatchObject({ status: 'degraded', latestBlock: await chain.head() });
    down.set({});
    await follower.until(step => step.kind === 'idle' && step.tags.agreed !== null);
    expect(follower.driver.health()).toMatchObject({ status: 'operational' });
  });
});

describe('a node on a branch of its own', () => {
  const forked = async (chain: TestChain, name: string): Promise<FaultProxy> => {
    const above = (await chain.head()) - 2;
    return serve(chain.upstream, { fork: forkOf(chain.upstream, { above, name }) });
  };

  test.each([2, 3])('is not followed, and one of %i does not stop the others', async count => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const strange = await forked(chain, 'one');
    const honest = await Promise.all(Array.from({ length: count - 1 }, () => serve(chain.upstream)));
    const follower = follow(chain, [strange, ...honest], { isQuiet: false });
    await follower.catchUp();
    strange.set({ fork: 1 });
    // Its finality covers its own blocks as well, in time.
    for (let at = 1n; at <= 8n; at++) {
      await pay(chain, at);
      await follower.catchUp();
    }
    await vi.waitFor(() => expect(strange.counts().get('fork') ?? 0).toBeGreaterThan(0));
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    expect(follower.complaints).toContain('The node is on another branch than the others.');
  });

  test('that is alone for a while makes nothing final, and is left without a halt', async () => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const fork = forkOf(chain.upstream, { above: height, name: 'alone' });
    const [strange, honest] = [await serve(chain.upstream, { fork }), await serve(chain.upstream)];
    const follower = follow(chain, [strange, honest], { isQuiet: false });
    expect((await follower.catchUp()).tags).toMatchObject({ agreed: height, finalized: height - 3 });
    strange.set({ fork: 1 });
    honest.set({ serverError: 1 });
    for (let at = 1n; at <= 8n; at++) await pay(chain, at);
    await follower.until(step => step.kind === 'idle' && step.at.number === height + 8);
    expect(follower.taken.at(-1)).toMatchObject({ tags: { agreed: height, finalized: height - 3 } });
    strange.set({});
    honest.set({});
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    const { tags } = (await follower.until(step => step.kind === 'idle' && step.tags.agreed === height + 8)) as {
      tags: { finalized: number };
    };
    expect(tags.finalized).toBe(height + 5);
  });

  test('that is alone for a while takes nothing back on which two had agreed', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const [strange, honest] = [await forked(chain, 'alone'), await serve(chain.upstream)];
    const follower = follow(chain, [strange, honest]);
    expect((await follower.catchUp()).tags.agreed).toBe(height);
    strange.set({ fork: 1 });
    honest.set({ serverError: 1 });
    const pending = follower.next();
    const alone = () => strange.counts().get('fork') ?? 0;
    await Promise.race([pending, vi.waitFor(() => expect(alone()).toBeGreaterThan(5), { timeout: 20_000 })]);
    strange.set({});
    honest.set({});
    await pending;
    await follower.catchUp();
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
  });

  test('far ahead of all others is not followed either', async () => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const other = await startTestChain({ finalityLag: 3 });
    await other.mine(height + 100);
    const strange = await serve(chain.upstream, { fork: other.upstream });
    const honest = [await serve(chain.upstream), await serve(chain.upstream)];
    const follower = follow(chain, [...honest, strange], { isQuiet: false });
    await follower.catchUp();
    strange.set({ fork: 1 });
    for (let at = 1n; at <= 3n; at++) {
      await pay(chain, at);
      await follower.catchUp();
    }
    expect(strange.counts().get('fork')).toBeGreaterThan(0);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
  });

  test('is followed where it is the branch of most', async () => {
    const chain = await prepare();
    const height = await chain.head();
    // Two nodes see the reorg; the third stays with what it had.
    const stuck = await serve(behind(chain, () => height));
    const follower = follow(chain, [stuck, await serve(chain.upstream), await serve(chain.upstream)]);
    await pay(chain, 1n);
    await follower.catchUp();
    await chain.rewind(height);
    await pay(chain, 2n);
    await pay(chain, 3n);
    await follower.catchUp();
    expect(follower.movements().map(({ amount }) => amount)).toEqual(expect.arrayContaining([2n, 3n]));
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });
});

describe('a node that lags', () => {
  test('is not asked for blocks', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const stale = await serve(behind(chain, () => height - 12));
    const follower = follow(chain, [stale, await serve(chain.upstream)]);
    await pay(chain, 1n);
    await follower.catchUp();
    expect(stale.answers().get('eth_chainId')).toBeGreaterThan(0);
    expect(stale.answers().get('eth_getLogs') ?? 0).toBe(0);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('holds nothing up when it is the first of the list', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const stale = await serve(behind(chain, () => height - 2));
    const follower = follow(chain, [stale, await serve(chain.upstream)]);
    await pay(chain, 1n);
    const { tags } = await follower.catchUp();
    expect(tags.agreed).toBe(height - 2);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });
});

test('a node for another chain is left out, and alone it makes the network down', async () => {
  const chain = await prepare();
  const wrong = await serve(chain.upstream, { faults: { wrongChain: 1 } });
  const follower = follow(chain, [wrong, await serve(chain.upstream)]);
  await follower.catchUp();
  expect(wrong.answers().get('eth_getLogs') ?? 0).toBe(0);
  expect(follower.complaints).toContain('The node serves chain 42 instead of 31337.');
  const alone = follow(chain, [wrong]);
  void alone.next().catch(() => {});
  await vi.waitFor(() => expect(alone.driver.health()).toMatchObject({ status: 'down' }));
  expect(alone.taken).toEqual([]);
});

test('a block that is read again is read from one node', async () => {
  const chain = await prepare();
  let nowMs = 0;
  let wakeFirst = (): void => {};
  const waking: Upstream = (method, params) => {
    wakeFirst();
    return chain.upstream(method, params);
  };
  const [first, second] = [await serve(chain.upstream), await serve(waking)];
  const follower = follow(chain, [first, second], { nowMs: () => nowMs });
  await pay(chain, 5n);
  await follower.catchUp();
  // The first is left alone after a fault, and could be asked again in the middle of it.
  first.set({ serverError: 1 });
  await follower.catchUp();
  first.set({});
  const asked = () => ['eth_getBlockByNumber', 'eth_getLogs', 'eth_call'].map(method => first.answers().get(method));
  const before = asked();
  wakeFirst = () => {
    nowMs += 60_000;
  };
  const block = await follower.driver.reread(await chain.head(), follower.surroundings, AbortSignal.timeout(10_000));
  expect(block!.movements).toMatchObject([{ amount: 5n, verified: true }]);
  expect(asked()).toEqual(before);
});

test('a node that is left alone for a moment does not make the network down', async () => {
  const chain = await prepare();
  const proxy = await serve(chain.upstream);
  const follower = follow(chain, [proxy], { nowMs: () => 0 });
  await follower.catchUp();
  await pay(chain, 1n);
  // It says where it stands, and fails at what is read next; by the clock of pauses it is left alone from then on.
  proxy.set({ nullReceipt: 1 });
  let polls = 0;
  follower.surroundings.now = async () => {
    polls += 1;
    return new Date();
  };
  void follower.next().catch(() => {});
  await vi.waitFor(() => expect(follower.complaints.length).toBeGreaterThan(0));
  const before = polls;
  await vi.waitFor(() => expect(polls).toBeGreaterThan(before + 2));
  expect(follower.driver.health()).toMatchObject({ status: 'operational', latestBlock: await chain.head() });
});
