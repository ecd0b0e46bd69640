import type { Random } from '../fuzz/random.ts';
import type { ChainRpc, RpcCall } from './chainRpc.ts';
import type { Ledger } from './checkChain.ts';
import type { ChainMemory } from './checkFinality.ts';
import { createSenders } from './senders.ts';
import type { Intent, Part, Spend } from './spend.ts';

export const localChainId = 31_337;

/** Spends of one sender that share a block. */
type Group = { readonly spends: readonly Spend[]; height: number };
export type Order = readonly Part[];

export type Reorg = {
  readonly depth: number;
  readonly orphaned: number;
  readonly dropped: number;
  /** How many went into a lower block than before, how many into a higher one. */
  readonly earlier: number;
  readonly later: number;
};

/** The node mines so many blocks by itself after a transaction when nothing else happens. */
const ownBlocks = 6;
const deepest = 64;
const notYet = Number.MAX_SAFE_INTEGER;

/** What was done to the chain, and the means to do more. Everything on it is made here, but for blocks without content. */
export const createWorld = (seed: string, random: Random, chainId = localChainId) => {
  const senders = createSenders(seed, chainId);
  const ledger = new Map<string, readonly Intent[]>();
  const orphaned = new Set<string>();
  const peaks: { atMs: number; number: number }[] = [];
  let snapshots: { height: number; id: unknown }[] = [];
  let groups: Group[] = [];
  /** Dropped by a reorg, and maybe mined once more later. */
  let waiting: Group[] = [];

  const headOf = async (rpc: ChainRpc): Promise<number> => Number(await rpc.call('eth_blockNumber'));

  /** Mines these one after the other; nothing in a list is an empty block. All but the first of a group go ahead of it. */
  const extend = async (rpc: ChainRpc, blocks: readonly (Group | string | null)[]): Promise<void> => {
    if (blocks.length === 0) return;
    const head = await headOf(rpc);
    const most = blocks.reduce(
      (sum, block) => sum + (block === null || typeof block === 'string' ? 1 : block.spends.length),
      0,
    );
    peaks.push({ atMs: Date.now(), number: head + most + ownBlocks });
    const calls: RpcCall[] = [];
    for (const block of blocks) {
      if (block === null) calls.push(['evm_mine']);
      else if (typeof block === 'string') calls.push(['eth_sendRawTransaction', block]);
      else for (const spend of block.spends.toReversed()) calls.push(['eth_sendRawTransaction', spend.raw]);
      calls.push(['evm_snapshot'], ['eth_blockNumber']);
    }
    const added = blocks.filter(block => block !== null && typeof block !== 'string');
    // Counted before the result is known: if the node dies now, `join` finds out which are mined.
    for (const group of added) {
      group.height = notYet;
      if (!groups.includes(group)) groups.push(group);
    }
    const results = await rpc.batch(calls);
    calls.forEach(([method], at) => {
      if (method === 'evm_snapshot') snapshots.push({ height: Number(results[at + 1]), id: results[at] });
    });
    await place(rpc, added);
  };

  /** Where they are now, by their receipts. */
  const place = async (rpc: ChainRpc, added: readonly Group[]): Promise<void> => {
    const receipts = (await rpc.batch(
      added.map(({ spends }) => ['eth_getTransactionReceipt', spends.at(-1)!.hash]),
    )) as ({ blockNumber: string } | null)[];
    for (const [at, group] of added.entries()) {
      const receipt = receipts[at];
      if (!receipt) throw new Error(`${group.spends.at(-1)!.hash} was not mined`);
      group.height = Number(receipt.blockNumber);
      senders.mined(group.spends);
    }
  };

  const groupOf = async (order: Order): Promise<Group> => {
    const spends = await senders.sign(order);
    // Counted at once, so that the next of the same sender follows on it.
    senders.mined(spends);
    for (const spend of spends) ledger.set(spend.hash, spend.isFailing ? [] : spend.intents);
    return { spends, height: 0 };
  };

  /** Which of the orphans come again, and in which order of the new branch's blocks. */
  const arrange = (gone: readonly Group[], length: number): { blocks: (Group | null)[]; dropped: Group[] } => {
    const manner = random.pick(['same', 'same', 'early', 'late', 'any'] as const);
    const dropShare = random.pick([0, 0, 0.1, 0.3]);
    const dropped = gone.filter(() => random.next() < dropShare);
    const kept = gone.filter(group => !dropped.includes(group));
    const slots: Group[][] = Array.from({ length: Math.max(length, 1) }, () => []);
    const lowest = Math.min(...gone.map(({ height }) => height));
    for (const group of kept) {
      const at = { same: group.height - lowest, early: 0, late: slots.length - 1, any: random.below(slots.length) };
      slots[Math.min(at[manner], slots.length - 1)]!.push(group);
    }
    return { blocks: slots.flatMap(slot => (slot.length === 0 ? [null] : slot)), dropped };
  };

  const world = {
    ledger: ledger as Ledger,
    memory: {
      highestAt: ms => peaks.findLast(({ atMs }) => atMs <= ms)?.number ?? -1,
      wasOrphaned: hash => orphaned.has(hash),
    } satisfies ChainMemory as ChainMemory,
    headOf,

    /** Called at the start and after each restart of the node, which has forgotten its states. */
    async join(rpc: ChainRpc, isFirst: boolean): Promise<void> {
      if (isFirst) await senders.fund(rpc);
      const top = peaks.reduce((most, { number }) => Math.max(most, number), -1);
      peaks.push({ atMs: Date.now(), number: (await headOf(rpc)) + ownBlocks });
      const all = [...groups, ...waiting];
      const receipts = (await rpc.batch(
        all.map(({ spends }) => ['eth_getTransactionReceipt', spends.at(-1)!.hash]),
      )) as ({ blockNumber: string } | null)[];
      groups = all.filter((group, at) => {
        const receipt = receipts[at];
        if (!receipt) for (const { hash } of group.spends) orphaned.add(hash);
        else group.height = Number(receipt.blockNumber);
        return Boolean(receipt);
      });
      waiting = [];
      await senders.refresh(rpc);
      snapshots = [];
      const [id, number] = await rpc.batch([['evm_snapshot'], ['eth_blockNumber']]);
      snapshots.push({ height: Number(number), id });
      // Killed during a reorg, the chain is shorter than before. A reader sees a node that lags.
      const missing = Math.max(0, top + 1 - Number(number));
      await extend(
        rpc,
        Array.from({ length: missing }, () => null),
      );
    },

    async mine(rpc: ChainRpc, orders: readonly (Order | null)[]): Promise<void> {
      const blocks: (Group | null)[] = [];
      for (const order of orders) blocks.push(order === null ? null : await groupOf(order));
      const back = waiting.filter(({ spends }) => senders.isNext(spends[0]!));
      waiting = [];
      for (const group of back) if (random.next() < 0.5) blocks.push(group);
      await extend(rpc, blocks);
    },

    /** Another branch from `depth` blocks below the head on, longer than this one; null where the chain is too young. */
    async reorganise(rpc: ChainRpc, depth: number, isTwin: boolean): Promise<Reorg | null> {
      const head = await headOf(rpc);
      const target = snapshots.findLast(({ height }) => height <= head - depth && height >= head - deepest);
      if (target === undefined) return null;
      const gone = groups.filter(({ height }) => height > target.height);
      const before = new Map(gone.map(group => [group, group.height]));
      for (const { spends } of gone) {
        senders.takeBack(spends);
        for (const { hash } of spends) orphaned.add(hash);
      }
      await rpc.call('evm_revert', target.id);
      snapshots = snapshots.filter(({ height }) => height < target.height);
      snapshots.push({ height: target.height, id: await rpc.call('evm_snapshot') });
      const { blocks, dropped } = arrange(gone, head - target.height - 1);
      groups = groups.filter(group => !dropped.includes(group));
      waiting.push(...dropped.filter(() => random.next() < 0.4));
      const length = blocks.reduce((sum, block) => sum + (block?.spends.length ?? 1), 0);
      const missing = Math.max(1, head - target.height + 1 - length);
      const first = isTwin ? null : await senders.noise(rpc, random.bytes(8));
      await extend(rpc, [first, ...blocks, ...Array.from({ length: missing }, () => null)]);
      const moved = gone.filter(group => !dropped.includes(group));
      return {
        depth: head - target.height,
        orphaned: gone.length,
        dropped: dropped.length,
        earlier: moved.filter(group => group.height < before.get(group)!).length,
        later: moved.filter(group => group.height > before.get(group)!).length,
      };
    },

    /** Empty blocks until everything that stands has this depth. */
    async bury(rpc: ChainRpc, depth: number): Promise<void> {
      waiting = [];
      await extend(
        rpc,
        Array.from({ length: depth }, () => null),
      );
    },

    async headHash(rpc: ChainRpc): Promise<string> {
      return ((await rpc.call('eth_getBlockByNumber', 'latest', false)) as { hash: string }).hash;
    },

    /** How high each transaction stands now. */
    heights: (): ReadonlyMap<string, number> =>
      new Map(groups.flatMap(({ spends, height }) => spends.map(({ hash }) => [hash, height] as const))),
  };
  return world;
};

export type World = ReturnType<typeof createWorld>;
