import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/chain.ts';
import { eventually } from '../support/until.ts';
import type { Upstream } from './faultProxy.ts';
import { addressOf, type Follower, type TestChain } from './followScene.ts';
import { inUnknownFormat } from './forkOf.ts';
import { behind, follow, pay, prepare, serve } from './nodesScene.ts';

const alice = addressOf('alice');
const forged = 'The node sent a block header that does not have the hash of its block.';
const refusal = expect.stringContaining('unknown format');
const emptyBloom = `0x${'0'.repeat(512)}`;
const never = Number.POSITIVE_INFINITY;

const amounts = (follower: Follower): bigint[] =>
  follower
    .movements()
    .map(({ amount }) => amount)
    .sort();

/** A node that hides all logs, and empties the bloom filters that would show it. */
const hiding =
  (upstream: Upstream, isHiding: () => boolean): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (!isHiding() || 'error' in outcome || outcome.result === null) return outcome;
    if (method === 'eth_getLogs') return { result: [] };
    if (!method.startsWith('eth_getBlockBy')) return outcome;
    return { result: { ...(outcome.result as object), logsBloom: emptyBloom } };
  };

/** Adds a field of its own to its headers. */
const adding =
  (upstream: Upstream, isAdding: () => boolean): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (!isAdding() || !method.startsWith('eth_getBlockBy') || 'error' in outcome || outcome.result === null) {
      return outcome;
    }
    return { result: { ...(outcome.result as object), ownField: '0x1' } };
  };

/** Lies about all blocks but the head. */
const honestHead =
  ({ upstream }: TestChain, liar: Upstream): Upstream =>
  (method, params) =>
    params[0] === 'latest' ? upstream(method, params) : liar(method, params);

const cursorOf = async (chain: TestChain): Promise<Block> => {
  const { number, hash, parentHash } = await chain.blockAt('latest');
  return { number: Number(number), hash, parentHash, timestamp: 0 };
};

describe('a node that serves an empty bloom and no logs does not hide a token payment', () => {
  test('near the head, from the only node: nothing is read until it is honest', async () => {
    const chain = await prepare();
    let isHiding = false;
    const node = await serve(hiding(chain.upstream, () => isHiding));
    const follower = follow(chain, [node]);
    await follower.catchUp();
    isHiding = true;
    await pay(chain, 5n);
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints.filter(each => each === forged).length).toBeGreaterThan(2));
    expect(follower.taken.at(-1)).toMatchObject({ kind: 'idle' });
    isHiding = false;
    await caughtUp;
    expect(amounts(follower)).toEqual([5n]);
  });

  test('near the head, from one of two nodes: the other is read', async () => {
    const chain = await prepare();
    let isHiding = false;
    const liar = await serve(hiding(chain.upstream, () => isHiding));
    const follower = follow(chain, [liar, await serve(chain.upstream)]);
    await follower.catchUp();
    isHiding = true;
    await pay(chain, 5n);
    await follower.catchUp();
    expect(amounts(follower)).toEqual([5n]);
    expect(follower.complaints).toContain(forged);
  });

  test('from one of two nodes that has hidden everything from the start', async () => {
    const chain = await prepare();
    const cursor = await cursorOf(chain);
    await pay(chain, 5n);
    const liar = await serve(hiding(chain.upstream, () => true));
    const follower = follow(chain, [liar, await serve(chain.upstream)], { cursor });
    await follower.catchUp();
    expect(amounts(follower)).toEqual([5n]);
  });

  test('far below the head', async () => {
    const chain = await prepare();
    const cursor = await cursorOf(chain);
    await pay(chain, 5n);
    await chain.mine(60);
    let isHiding = true;
    const liar = hiding(chain.upstream, () => isHiding);
    const follower = follow(chain, [await serve(honestHead(chain, liar))], { cursor, keep: 1_000 });
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints.length).toBeGreaterThan(2));
    expect(follower.taken).toEqual([]);
    isHiding = false;
    await caughtUp;
    expect(amounts(follower)).toEqual([5n]);
  });
});

test('a log that the only node leaves out of every range is found by the hash of its block', async () => {
  const chain = await prepare();
  const cursor = await cursorOf(chain);
  await chain.block(
    chain.transfer(addressOf('bob'), 1n),
    chain.transfer(alice, 5n),
    chain.transfer(addressOf('bob'), 2n),
  );
  // The last block with logs is always read by its hash.
  await chain.block(chain.transfer(addressOf('bob'), 3n));
  await chain.mine(60);
  const dropping: Upstream = async (method, params) => {
    const outcome = await chain.upstream(method, params);
    const isRange = method === 'eth_getLogs' && 'fromBlock' in (params[0] as object);
    if (!isRange || 'error' in outcome) return outcome;
    const logs = outcome.result as { topics: string[] }[];
    return { result: logs.filter(({ topics }) => !topics[2]?.endsWith(alice.slice(2).toLowerCase())) };
  };
  const follower = follow(chain, [await serve(dropping)], { cursor, keep: 1_000 });
  await follower.catchUp();
  expect(amounts(follower)).toEqual([5n]);
});

describe('a header format that nobody knows', () => {
  const start = async (count: number, upstream: (chain: TestChain) => Upstream = chain => chain.upstream) => {
    const chain = await prepare();
    let above = never;
    const nodes = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        serve(inUnknownFormat(at === 0 ? upstream(chain) : chain.upstream, () => above)),
      ),
    );
    const follower = follow(chain, nodes);
    await follower.catchUp();
    above = await chain.head();
    return { chain, follower, nodes };
  };
  const warnings = ({ logged }: Follower) =>
    logged.filter(({ message }) => message === 'block headers have an unknown format');

  test('is read on if two nodes send the same headers, with one warning', async () => {
    const { chain, follower } = await start(2);
    for (let amount = 1n; amount <= 4n; amount++) {
      await pay(chain, amount);
      await follower.catchUp();
    }
    expect(amounts(follower)).toEqual([1n, 2n, 3n, 4n]);
    expect(warnings(follower)).toMatchObject([
      { fields: { isConfirmed: true, fields: expect.stringContaining('futureRoot') } },
    ]);
    expect(follower.driver.health()).toMatchObject({ status: 'operational', refusal: null });
  });

  test('is read on from the only node, which takes no new payments', async () => {
    const { chain, follower } = await start(1);
    await pay(chain, 5n);
    await follower.catchUp();
    expect(amounts(follower)).toEqual([5n]);
    await eventually(async () => {
      await follower.next();
      expect(follower.driver.health()).toMatchObject({ status: 'degraded', reason: refusal, refusal });
    });
    expect(warnings(follower)).toHaveLength(1);
  });

  test('is read on from the only node of two that answers', async () => {
    const { chain, follower, nodes } = await start(2);
    nodes[1]!.set({ serverError: 1 });
    await pay(chain, 5n);
    await follower.until(() => amounts(follower).length === 1);
    expect(follower.driver.health()).toMatchObject({ refusal });
    nodes[1]!.set({});
    await pay(chain, 6n);
    await follower.catchUp();
    await eventually(() => expect(follower.driver.health()).toMatchObject({ refusal: null }));
  });

  test('does not help one of two nodes to hide a token payment', async () => {
    let isHiding = false;
    const { chain, follower } = await start(2, ({ upstream }) => hiding(upstream, () => isHiding));
    await pay(chain, 1n);
    await follower.catchUp();
    isHiding = true;
    await pay(chain, 5n);
    const caughtUp = follower.catchUp();
    await eventually(() =>
      expect(follower.complaints).toContain('Two nodes sent different headers of the same block.'),
    );
    isHiding = false;
    await caughtUp;
    expect(amounts(follower)).toEqual([1n, 5n]);
  });

  test('does not help the only node if its receipts show the logs', async () => {
    let isHiding = false;
    const { chain, follower } = await start(1, ({ upstream }) => hiding(upstream, () => isHiding));
    await chain.mine(1);
    await follower.catchUp();
    isHiding = true;
    await pay(chain, 5n);
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints).toContain('The node left out logs of a block.'));
    isHiding = false;
    await caughtUp;
    expect(amounts(follower)).toEqual([5n]);
  });

  test('waits for a second node that is a block behind, without backing off', async () => {
    const chain = await prepare();
    let [above, limit] = [never, never];
    const late: Upstream = async (method, params) => {
      const outcome = await behind(chain, () => limit)(method, params);
      if (method !== 'eth_getBlockByHash' || 'error' in outcome) return outcome;
      return { result: Number((outcome.result as { number: string }).number) > limit ? null : outcome.result };
    };
    const nodes = [chain.upstream, late].map(upstream => serve(inUnknownFormat(upstream, () => above)));
    // Back-off times would never pass.
    const follower = follow(chain, await Promise.all(nodes), { nowMs: () => 0 });
    await follower.catchUp();
    above = await chain.head();
    limit = above;
    await pay(chain, 5n);
    const caughtUp = follower.catchUp();
    await eventually(() => expect(follower.complaints.length).toBeGreaterThan(3));
    expect(new Set(follower.complaints)).toEqual(
      new Set(['No second node confirms a block header in an unknown format.']),
    );
    expect(amounts(follower)).toEqual([]);
    limit = never;
    await caughtUp;
    expect(amounts(follower)).toEqual([5n]);
  });
});

test('a field that a node adds to honest headers changes nothing', async () => {
  const chain = await prepare();
  let isAdding = false;
  const follower = follow(chain, [await serve(adding(chain.upstream, () => isAdding))]);
  await follower.catchUp();
  isAdding = true;
  await pay(chain, 5n);
  await follower.catchUp();
  expect(amounts(follower)).toEqual([5n]);
  expect(follower.complaints).toEqual([]);
  expect(follower.driver.health()).toMatchObject({ refusal: null });
});

test('a forged header in a shape that is new is not believed as long as others have their hashes', async () => {
  const chain = await prepare();
  let isLying = false;
  const liar = hiding(
    adding(chain.upstream, () => isLying),
    () => isLying,
  );
  const follower = follow(chain, [await serve(honestHead(chain, liar))]);
  await follower.catchUp();
  isLying = true;
  await pay(chain, 5n);
  const caughtUp = follower.catchUp();
  await eventually(() => expect(follower.complaints.length).toBeGreaterThan(200));
  expect(amounts(follower)).toEqual([]);
  isLying = false;
  await caughtUp;
  expect(amounts(follower)).toEqual([5n]);
});
