import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCoinScanner } from '../../src/workers/coinScanner.ts';
import type { FaultKind, FaultProxy, Upstream } from '../chains/faultProxy.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { byContract, startWatchedChain, type WatchedTestChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});
afterAll(() => quiet.scene.stop());

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const prepare = async (options: Parameters<typeof startWatchedChain>[1] = {}) => {
  const watched = await startWatchedChain(quiet, options);
  ends.push(watched.stop);
  const scan = createCoinScanner(watched.context, watched.driver, watched.lease, 0);
  /** Reads the chain and looks at the balances once, as the watcher does whenever it has nothing else to read. */
  const turn = async (): Promise<void> => {
    const { head, begunAt } = await watched.read();
    await scan(head, begunAt, watched.signal);
  };
  return { ...watched, scan, turn };
};

/** Up to when all balances were looked at, by the database. */
const caughtUpAt = async ({ caip2 }: Pick<WatchedTestChain, 'caip2'>): Promise<Date | null> => {
  const rows = await quiet.read<{ at: Date | null }>(
    `select coins_caught_up_at as at from chains where caip2 = '${caip2}'`,
  );
  return rows[0]!.at;
};

const coin = (blockNumber: number, amount: number) => ({
  blockNumber,
  amount: `${amount}`,
  verified: true,
  isCoin: true,
});
const unread = 'balances of native coin could not be read';

/** Calls `act` once so many questions for balances were answered. */
const createHindrance = () => {
  let [left, hinder]: [number, () => void | Promise<void>] = [0, () => {}];
  return {
    through:
      (upstream: Upstream): Upstream =>
      async (method, params) => {
        const outcome = await upstream(method, params);
        if (method === 'eth_call' && left > 0 && --left === 0) await hinder();
        return outcome;
      },
    after(answers: number, act: () => void | Promise<void>): void {
      [left, hinder] = [answers, act];
    },
  };
};

/** A node that has dropped the states of blocks below a height. */
const pruned =
  (chainOf: () => WatchedTestChain['chain'], lowest: () => number) =>
  (upstream: Upstream): Upstream =>
  async (method, params) => {
    const { blockHash } = (params[1] ?? {}) as { blockHash?: string };
    if (method !== 'eth_call' || blockHash === undefined) return upstream(method, params);
    const { number } = await chainOf().node.request<{ number: string }>('eth_getBlockByHash', blockHash, false);
    if (Number(number) >= lowest()) return upstream(method, params);
    return { error: { code: -32000, message: 'missing trie node' } };
  };

/** A payment that a contract paid, with blocks on top. */
const paidOnce = async (watched: Awaited<ReturnType<typeof prepare>>) => {
  const { chain, turn, payments } = watched;
  const [payment] = await payments(1);
  await chain.mine(20);
  await turn();
  await chain.block(byContract(payment!.address, 7n));
  const paidAt = await chain.head();
  await chain.mine(9);
  return { payment: payment!, paidAt };
};

describe('the block in which coin came', () => {
  test.each<FaultKind>(['silence', 'malformed', 'cutConnection', 'serverError', 'limited'])(
    'is not guessed when a node fails while it is searched for: %s',
    async kind => {
      const hindrance = createHindrance();
      const watched = await prepare({
        nodes: [hindrance.through],
        ...(kind === 'silence' ? { answerTimeoutMs: 2_000 } : {}),
      });
      const [proxy] = watched.proxies as [FaultProxy];
      const { payment, paidAt } = await paidOnce(watched);
      const before = await caughtUpAt(watched);
      // What is asked after the balances at the head is where the block is.
      hindrance.after(1, () => proxy.set({ [kind]: 1 }));
      await watched.turn();
      expect(proxy.counts().get(kind)).toBeGreaterThan(0);
      expect(await watched.transfers(payment)).toEqual([]);
      expect(await caughtUpAt(watched)).toEqual(before);
      expect(watched.said(unread)).toHaveLength(1);

      // The head is the same as before, and the turn is done again.
      proxy.set({});
      await watched.turn();
      expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
      expect((await caughtUpAt(watched))!.getTime()).toBeGreaterThan(before!.getTime());
      expect(watched.said(unread)).toHaveLength(1);
    },
  );

  test('is not guessed either when a node says in its own words that it is asked too often', async () => {
    let isLimiting = false;
    const hindrance = createHindrance();
    const limiting =
      (upstream: Upstream): Upstream =>
      (method, params) =>
        isLimiting
          ? Promise.resolve({ error: { code: -32005, message: 'slow down' } })
          : hindrance.through(upstream)(method, params);
    const watched = await prepare({ nodes: [limiting] });
    const { payment, paidAt } = await paidOnce(watched);
    hindrance.after(1, () => {
      isLimiting = true;
    });
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([]);
    isLimiting = false;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is the lowest whose state is still there, where older states are gone', async () => {
    let lowest = 0;
    const watched: Awaited<ReturnType<typeof prepare>> = await prepare({
      nodes: [
        pruned(
          () => watched.chain,
          () => lowest,
        ),
      ],
    });
    const { payment, paidAt } = await paidOnce(watched);
    lowest = paidAt + 3;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(lowest, 7)]);
    expect(watched.said(unread)).toEqual([]);
  });

  test('is not searched for on a branch that the node leaves meanwhile', async () => {
    const hindrance = createHindrance();
    const watched = await prepare({ nodes: [hindrance.through] });
    const { chain, turn, transfers } = watched;
    const { payment, paidAt } = await paidOnce(watched);
    hindrance.after(1, () => chain.rewind(paidAt));
    await turn();
    expect(await transfers(payment), 'its block stands, those above it are gone').toEqual([]);
    expect(watched.said(unread)).toHaveLength(1);
    await chain.mine(12);
    await turn();
    expect(await transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is found by another node that still has the state', async () => {
    let lowest = 0;
    const dropped = pruned(
      () => watched.chain,
      () => lowest,
    );
    const watched: Awaited<ReturnType<typeof prepare>> = await prepare({ nodes: [dropped, upstream => upstream] });
    const { payment, paidAt } = await paidOnce(watched);
    lowest = paidAt + 3;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is not known while no node has even the newest state', async () => {
    let lowest = 0;
    const watched: Awaited<ReturnType<typeof prepare>> = await prepare({
      nodes: [
        pruned(
          () => watched.chain,
          () => lowest,
        ),
      ],
    });
    const { payment, paidAt } = await paidOnce(watched);
    const before = await caughtUpAt(watched);
    lowest = Number.MAX_SAFE_INTEGER;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([]);
    expect(await caughtUpAt(watched)).toEqual(before);
    expect(watched.said(unread)).toHaveLength(1);
    lowest = 0;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });
});

describe('a chain that rests', () => {
  test('has all its coin found in one turn, in whichever blocks it came', async () => {
    const { chain, turn, payments, transfers } = await prepare();
    // Each asks for one unit more than the one before: these two for more than comes, so that they stay open.
    const [first, second] = (await payments(100)).slice(-2);
    await chain.mine(20);
    await turn();
    const from = await chain.head();
    await chain.block(byContract(first!.address, 1n));
    await chain.mine(3);
    await chain.block(byContract(first!.address, 2n), byContract(first!.address, 3n), byContract(second!.address, 4n));
    await chain.block({ to: first!.address, value: 5n }, byContract(first!.address, 6n));
    await chain.block(byContract(second!.address, 7n));
    await chain.mine(5);
    await chain.block(byContract(first!.address, 8n));
    await turn();
    const found = [
      [coin(from + 1, 1), coin(from + 5, 5), coin(from + 6, 6), coin(from + 6, 5), coin(from + 13, 8)],
      [coin(from + 5, 4), coin(from + 7, 7)],
    ];
    expect(await transfers(first!)).toEqual(found[0]);
    expect(await transfers(second!)).toEqual(found[1]);
    await turn();
    expect(await transfers(first!)).toEqual(found[0]);
  });

  test('is looked at again after a turn that failed at its very beginning', async () => {
    const watched = await prepare();
    const [proxy] = watched.proxies as [FaultProxy];
    const { payment, paidAt } = await paidOnce(watched);
    const { head, begunAt } = await watched.read();
    proxy.set({ serverError: 1 });
    await watched.scan(head, begunAt, watched.signal);
    expect(await watched.transfers(payment)).toEqual([]);
    proxy.set({});
    await watched.scan(head, begunAt, watched.signal);
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is not taken for looked at when a block came in the middle of a round', async () => {
    const watched = await prepare();
    const { chain, turn, transfers } = watched;
    // One page holds 2,000, so a round takes two turns.
    const all = (await watched.payments(2_001)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const [first, last] = [all[0]!, all.at(-1)!];
    await chain.mine(20);
    await turn();
    await chain.block(byContract(first.address, 7n), byContract(last.address, 8n));
    const paidAt = await chain.head();
    await turn();
    expect(await transfers(last)).toEqual([coin(paidAt, 8)]);
    expect(await transfers(first), 'its page was looked at before').toEqual([]);
    // No block comes any more.
    const before = await caughtUpAt(watched);
    await turn();
    expect(await transfers(first)).toEqual([coin(paidAt, 7)]);
    expect(await caughtUpAt(watched), 'one of two pages is no round').toEqual(before);
    await turn();
    expect((await caughtUpAt(watched))!.getTime()).toBeGreaterThan(before!.getTime());
  });
});

test('a node that fails at balances alone is asked after the others', async () => {
  const failing =
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const isBalances = method === 'eth_call' && (params[0] as { to?: string }).to === undefined;
      return isBalances ? { result: '0x00' } : upstream(method, params);
    };
  const watched = await prepare({ nodes: [failing, upstream => upstream] });
  const { payment, paidAt } = await paidOnce(watched);
  await watched.turn();
  expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  expect(watched.said(unread)).toHaveLength(1);
});
