import { describe, expect, test } from 'vitest';
import { eventually } from '../support/until.ts';
import type { Upstream } from './faultProxy.ts';
import { behind, follow, pay, prepare, serve } from './nodesScene.ts';

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
  await eventually(() => expect(alone.driver.health()).toMatchObject({ status: 'down' }));
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
  // The first node backs off after a fault, and could be used again in the middle of the read.
  first.set({ serverError: 1 });
  await follower.catchUp();
  first.set({});
  const asked = () => ['eth_getBlockByNumber', 'eth_getLogs', 'eth_call'].map(method => first.answers().get(method));
  const before = asked();
  wakeFirst = () => {
    nowMs += 60_000;
  };
  const block = await follower.driver.reread(await chain.head(), follower.host, AbortSignal.timeout(10_000));
  expect(block!.movements).toMatchObject([{ amount: 5n, verified: true }]);
  expect(asked()).toEqual(before);
});

test('a node that is left alone for a moment does not make the network down', async () => {
  const chain = await prepare();
  const proxy = await serve(chain.upstream);
  const follower = follow(chain, [proxy], { nowMs: () => 0 });
  await follower.catchUp();
  await pay(chain, 1n);
  // It reports its head and fails at the next read; from then on it backs off.
  proxy.set({ nullReceipt: 1 });
  let polls = 0;
  follower.host.now = async () => {
    polls += 1;
    return new Date();
  };
  void follower.next().catch(() => {});
  await eventually(() => expect(follower.complaints.length).toBeGreaterThan(0));
  const before = polls;
  await eventually(() => expect(polls).toBeGreaterThan(before + 2));
  expect(follower.driver.health()).toMatchObject({ status: 'operational', latestBlock: await chain.head() });
});
