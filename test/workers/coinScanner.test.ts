import { beforeAll, describe, expect, test } from 'vitest';
import type { FaultKind, FaultProxy, Upstream } from '../chains/faultProxy.ts';
import { byContract } from '../chains/sentByContract.ts';
import { eventually } from '../support/until.ts';
import { type CoinScene, coin, startCoinScene, unread } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const prepare = async (options: Parameters<typeof startCoinScene>[1] = {}): Promise<CoinScene> => {
  const scene = await startCoinScene(quiet, options);
  return scene;
};

/** Calls `act` after this many balance requests. */
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

const honest = (upstream: Upstream): Upstream => upstream;

/** A node that has dropped the states of blocks below a height. */
const pruned =
  (chainOf: () => CoinScene['chain'], lowest: () => number) =>
  (upstream: Upstream): Upstream =>
  async (method, params) => {
    const { blockHash } = (params[1] ?? {}) as { blockHash?: string };
    if (method !== 'eth_call' || blockHash === undefined) return upstream(method, params);
    const { number } = await chainOf().node.request<{ number: string }>('eth_getBlockByHash', blockHash, false);
    if (Number(number) >= lowest()) return upstream(method, params);
    return { error: { code: -32000, message: 'missing trie node' } };
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
      const { payment, paidAt } = await watched.paidOnce();
      const before = await watched.caughtUpAt();
      // After the balances at the head, the scanner searches for the block.
      hindrance.after(1, () => proxy.set({ [kind]: 1 }));
      await watched.turn();
      expect(proxy.counts().get(kind)).toBeGreaterThan(0);
      expect(await watched.transfers(payment)).toEqual([]);
      expect(await watched.caughtUpAt()).toEqual(before);
      expect(watched.said(unread)).toHaveLength(1);

      // The head is unchanged, and the turn is repeated.
      proxy.set({});
      await watched.turn();
      expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
      expect((await watched.caughtUpAt())!.getTime()).toBeGreaterThan(before!.getTime());
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
    const { payment, paidAt } = await watched.paidOnce();
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
    const watched: CoinScene = await prepare({
      nodes: [
        pruned(
          () => watched.chain,
          () => lowest,
        ),
      ],
    });
    const { payment, paidAt } = await watched.paidOnce();
    lowest = paidAt + 3;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(lowest, 7)]);
    expect(watched.said(unread)).toEqual([]);
  });

  test('is not searched for on a branch that the node leaves meanwhile', async () => {
    const hindrance = createHindrance();
    const watched = await prepare({ nodes: [hindrance.through] });
    const { chain, turn, transfers } = watched;
    const { payment, paidAt } = await watched.paidOnce();
    hindrance.after(1, () => chain.rewind(paidAt));
    await turn();
    expect(await transfers(payment), 'its block stands, those above it are gone').toEqual([]);
    expect(watched.said(unread)).toHaveLength(1);
    await chain.mine(12);
    await turn();
    expect(await transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is found by other nodes that still have the state', async () => {
    let lowest = 0;
    const dropped = pruned(
      () => watched.chain,
      () => lowest,
    );
    const watched: CoinScene = await prepare({ nodes: [dropped, honest, honest] });
    const { payment, paidAt } = await watched.paidOnce();
    lowest = paidAt + 3;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is not known while no node has even the newest state', async () => {
    let lowest = 0;
    const watched: CoinScene = await prepare({
      nodes: [
        pruned(
          () => watched.chain,
          () => lowest,
        ),
      ],
    });
    const { payment, paidAt } = await watched.paidOnce();
    const before = await watched.caughtUpAt();
    lowest = Number.MAX_SAFE_INTEGER;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([]);
    expect(await watched.caughtUpAt()).toEqual(before);
    expect(watched.said(unread)).toHaveLength(1);
    lowest = 0;
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });
});

test('a node that fails at balances alone is asked after the others', async () => {
  const failing =
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const isBalances = method === 'eth_call' && (params[0] as { to?: string }).to === undefined;
      return isBalances ? { result: '0x00' } : upstream(method, params);
    };
  const watched = await prepare({ nodes: [failing, honest, honest] });
  const { payment, paidAt } = await watched.paidOnce();
  await watched.turn();
  expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  expect(watched.said(unread)).toHaveLength(1);
});

describe('with two nodes, coin', () => {
  const richer =
    (isLying: () => boolean) =>
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const outcome = await upstream(method, params);
      if (method !== 'eth_call' || !isLying() || 'error' in outcome) return outcome;
      return { result: (outcome.result as string).replace(/0$/, '9').replace(/7$/, '8') };
    };
  test('that only one of them sees is not put on record', async () => {
    let isLying = true;
    const watched = await prepare({ nodes: [richer(() => isLying), honest] });
    const [payment] = await watched.payments(1);
    await watched.chain.mine(20);
    await watched.turn();
    expect(await watched.transfers(payment!)).toEqual([]);
    isLying = false;
    await watched.chain.block(byContract(payment!.address, 7n));
    await watched.turn();
    expect(await watched.transfers(payment!)).toEqual([coin(await watched.chain.head(), 7)]);
  });

  test('is put on record as low as either of them says', async () => {
    const watched = await prepare({ nodes: [richer(() => true), honest] });
    const { payment, paidAt } = await watched.paidOnce();
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('waits for the second one', async () => {
    const watched = await prepare({ nodes: [honest, honest] });
    const { payment, paidAt } = await watched.paidOnce();
    const before = await watched.caughtUpAt();
    watched.proxies[1]!.set({ cutConnection: 1 });
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([]);
    expect(await watched.caughtUpAt()).toEqual(before);
    watched.proxies[1]!.set({});
    await eventually(async () => {
      await watched.turn();
      expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
    });
  });
});
