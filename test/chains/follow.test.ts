import { afterEach, describe, expect, test } from 'vitest';
import type { ChainStep } from '../../src/chains/driver.ts';
import type { Block } from '../../src/core/chain.ts';
import { accounts } from './evmNode.ts';
import { type FaultProxy, startFaultProxy } from './faultProxy.ts';
import { addressOf, type Follower, startFollower, startTestChain, type TestChain } from './followScene.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];
const known = [alice, bob];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const serve = async (chain: TestChain): Promise<FaultProxy> => {
  const proxy = await startFaultProxy(chain.upstream, { seed: 'follow' });
  ends.push(proxy.close);
  return proxy;
};

const follow = (chain: TestChain, proxy: FaultProxy, options: Partial<Parameters<typeof startFollower>[0]> = {}) => {
  const follower = startFollower({ chain, rpcUrls: [proxy.url], known, ...options });
  ends.push(follower.stop);
  return follower;
};

const blocksOf = (steps: readonly ChainStep[]) => steps.filter(step => step.kind === 'blocks');
const rollbacks = (follower: Follower): number[] =>
  blocksOf(follower.taken).flatMap(({ rollbackTo }) => (rollbackTo === null ? [] : [rollbackTo.number]));

const cursorAt = async (chain: TestChain, number: number): Promise<Block> => {
  const { hash, parentHash } = await chain.blockAt(number);
  return { number, hash, parentHash, timestamp: 0 };
};

/** A chain of some blocks, a follower that has read them all. */
const start = async (options: Partial<Parameters<typeof startFollower>[0]> & { finalityLag?: number } = {}) => {
  const { finalityLag = 0, ...following } = options;
  const chain = await startTestChain({ finalityLag });
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  const proxy = await serve(chain);
  const follower = follow(chain, proxy, following);
  await follower.catchUp();
  return { chain, proxy, follower, start: await chain.head() };
};

describe('the beginning', () => {
  test('is some blocks below the head, so that a reorg of the first blocks is nothing special', async () => {
    const { chain, follower, start: height } = await start();
    const [first] = blocksOf(follower.taken);
    expect(first!.blocks).toHaveLength(1);
    expect(first!.blocks[0]!.number).toBeLessThan(height);
    await chain.rewind(height - 3);
    await chain.mine(5);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height - 3]);
  });

  test('is block zero on a chain that has just begun', async () => {
    const chain = await startTestChain();
    const follower = follow(chain, await serve(chain));
    await follower.catchUp();
    expect(blocksOf(follower.taken)[0]!.blocks[0]!.number).toBe(0);
  });
});

describe('extension', () => {
  test('tells each block once, in order, with what moved in it', async () => {
    const { chain, follower, start: height } = await start();
    await chain.block(chain.transfer(alice, 5n), { to: bob, value: 7n });
    await chain.block();
    await chain.block(chain.transfer(bob, 1n), chain.transfer(bob, 2n));
    await follower.catchUp();
    const told = await follower.walked(height + 1);
    expect(told.map(({ amount }) => amount).sort()).toEqual([1n, 2n, 5n, 7n]);
    expect(follower.movements()).toEqual(told);
    expect(follower.detailed().every(({ verified }) => verified)).toBe(true);
    expect(rollbacks(follower)).toEqual([]);
  });

  test('a driver that is started again goes on after its cursor', async () => {
    const { chain, proxy, start: height } = await start();
    const cursor = await cursorAt(chain, height);
    await chain.block(chain.transfer(alice, 5n));
    const again = follow(chain, proxy, { cursor });
    await again.catchUp();
    expect([...again.stored.keys()]).toEqual([height + 1]);
    expect(again.movements()).toEqual(await again.walked(height + 1));
  });

  test('ends when it is told to', async () => {
    const { follower } = await start();
    const waiting = follower.until(() => false);
    follower.stop();
    await expect(waiting).rejects.toThrow();
  });
});

describe('catch-up', () => {
  test('by ranges tells exactly what reading near the head tells', async () => {
    const chain = await startTestChain();
    const others = Array.from({ length: 5 }, (_, at) => addressOf(`other ${at}`));
    await chain.block(chain.mint(accounts[0], 10n ** 12n));
    const cursor = await cursorAt(chain, await chain.head());
    const proxy = await serve(chain);
    const near = follow(chain, proxy, { cursor, keep: 1_000 });
    for (let round = 0; round < 12; round++) {
      for (let at = 0; at < 20; at++) {
        const sent = [];
        if (at % 3 === 0) sent.push(chain.transfer(others[round % 5]!, 1n));
        if (at % 4 === 0) sent.push(chain.transfer(alice, BigInt(round * 20 + at + 1)));
        if (at % 5 === 0) sent.push({ to: bob, value: BigInt(at + 1) }, chain.transfer(bob, 3n), chain.mint(bob, 4n));
        await chain.block(...sent);
      }
      await near.catchUp();
    }
    const rangesBefore = proxy.answers().get('eth_getLogs')!;
    const far = follow(chain, proxy, { cursor, keep: 1_000 });
    await far.catchUp();
    expect(near.stored.size).toBe(240);
    expect([...far.stored.values()]).toEqual([...near.stored.values()]);
    expect(far.movements()).toEqual(await far.walked(cursor.number + 1));
    expect(far.movements().length).toBeGreaterThan(150);
    // Near the head each block needs its own request; by range a hundred blocks share a few.
    expect(proxy.answers().get('eth_getLogs')! - rangesBefore).toBeLessThan(rangesBefore / 2);
    expect(near.complaints.concat(far.complaints)).toEqual([]);
  });
});

describe('a reorg', () => {
  const pay = async (chain: TestChain, amount: bigint): Promise<void> => {
    await chain.block(chain.transfer(alice, amount));
  };

  test('at the same height is noticed by the hash', async () => {
    const { chain, follower, start: height } = await start();
    await pay(chain, 5n);
    await follower.catchUp();
    await chain.rewind(height);
    await pay(chain, 6n);
    expect(await chain.head()).toBe(height + 1);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height]);
    expect(follower.movements().map(({ amount }) => amount)).toEqual([6n]);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('to a longer chain comes as one step as far as the old one reached', async () => {
    const { chain, follower, start: height } = await start();
    for (const amount of [1n, 2n, 3n]) await pay(chain, amount);
    await follower.catchUp();
    await chain.rewind(height);
    for (const amount of [3n, 2n, 1n, 9n, 8n]) await pay(chain, amount);
    await follower.catchUp();
    const back = blocksOf(follower.taken).filter(({ rollbackTo }) => rollbackTo !== null);
    expect(back).toHaveLength(1);
    expect(back[0]!.blocks.map(({ number }) => number)).toEqual([height + 1, height + 2, height + 3]);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('to a shorter chain', async () => {
    const { chain, follower, start: height } = await start();
    for (const amount of [1n, 2n, 3n, 4n]) await pay(chain, amount);
    await follower.catchUp();
    await chain.rewind(height + 1);
    await pay(chain, 7n);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height + 1]);
    expect(follower.movements().map(({ amount }) => amount)).toEqual(expect.arrayContaining([1n, 7n]));
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('that is far below the head when it is noticed', async () => {
    const { chain, follower, start: height } = await start();
    await pay(chain, 1n);
    await chain.mine(40);
    await follower.catchUp();
    await chain.rewind(height);
    await pay(chain, 2n);
    await chain.mine(150);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height]);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('and back to the first branch', async () => {
    const { chain, proxy, follower, start: height } = await start();
    await pay(chain, 5n);
    await follower.catchUp();
    const first = await follower.walked(height + 1);
    // The other branch is a node that forgets blocks of the first one. The first chain stays unchanged.
    const other = follow(chain, proxy);
    await other.catchUp();
    expect(other.movements().filter(({ amount }) => amount === 5n)).toEqual(first);
    await chain.rewind(height);
    await pay(chain, 6n);
    await follower.catchUp();
    await chain.rewind(height - 2);
    await pay(chain, 5n);
    await chain.mine(3);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height, height - 2]);
    expect(follower.movements()).toEqual(await follower.walked(height - 1));
  });

  test('is not what a lower head is', async () => {
    const { chain, proxy, follower, start: height } = await start();
    proxy.set({ staleHead: 1 });
    for (let seen = 0; seen < 3; seen++) {
      const step = await follower.next();
      expect(step).toMatchObject({ kind: 'idle', at: { number: height }, caughtUpAt: null });
    }
    expect(rollbacks(follower)).toEqual([]);
    proxy.set({});
    await pay(chain, 5n);
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });

  test('below the blocks that are kept halts the chain', async () => {
    const { chain, follower, start: height } = await start({ keep: 5 });
    await chain.mine(10);
    await follower.catchUp();
    await chain.rewind(height);
    await chain.mine(12);
    const step = await follower.until(({ kind }) => kind !== 'idle');
    expect(step).toMatchObject({ kind: 'halt', reason: expect.stringContaining('kept') });
  });

  test('within the blocks that are kept does not', async () => {
    const { chain, follower, start: height } = await start({ keep: 64 });
    await chain.mine(60);
    await follower.catchUp();
    await chain.rewind(height);
    await chain.mine(61);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height]);
  });

  test('below a block that was final halts the chain', async () => {
    const { chain, follower, start: height } = await start({ isQuiet: false, finalityLag: 3 });
    expect(follower.taken.at(-1)).toMatchObject({ tags: { finalized: height - 3 } });
    await chain.rewind(height - 5);
    await chain.mine(9);
    const step = await follower.until(({ kind }) => kind !== 'idle');
    expect(step).toMatchObject({ kind: 'halt', reason: expect.stringContaining('final') });
  });

  test('above it does not', async () => {
    const { chain, follower, start: height } = await start({ isQuiet: false, finalityLag: 3 });
    await chain.rewind(height - 2);
    await chain.mine(3);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height - 2]);
    expect(follower.taken.at(-1)).toMatchObject({ tags: { finalized: height - 2 } });
  });

  test('that became final while nobody looked is an ordinary one', async () => {
    const { chain, follower, start: height } = await start({ isQuiet: false, finalityLag: 3 });
    await chain.rewind(height - 2);
    await chain.mine(4);
    expect(await chain.finalized()).toBe(height - 1);
    await follower.catchUp();
    expect(rollbacks(follower)).toEqual([height - 2]);
    await chain.mine(1);
    await follower.catchUp();
  });
});
