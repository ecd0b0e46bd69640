import { getAddress } from 'viem';
import { type Slug, testnets } from '../../../src/core/registry/backings.ts';
import { accounts } from '../../chains/evmNode.ts';
import {
  type FaultKind,
  type FaultProxy,
  type Faults,
  startFaultProxy,
  type Upstream,
} from '../../chains/faultProxy.ts';
import { type Sent, startTestChain, type TestChain } from '../../chains/followScene.ts';
import { forkOf, inUnknownFormat } from '../../chains/forkOf.ts';
import type { Random } from '../fuzz/random.ts';

/** Blocks of the node are final so far below its head; its reorgs stay above. */
const finalityLag = 6;
const deepestReorg = 4;
const transactionsABlock = 12;
/** How many blocks after Florin's first one a fork changes the format of headers. */
const blocksBeforeFork = 40;

export type WorldOptions = {
  readonly seed: string;
  /** Number of nodes. */
  readonly count: number;
  /** Whether the chain goes through a fork that Florin does not know. */
  readonly isForked: boolean;
};

/** A transfer that the campaign asked for. */
export type Entry = {
  readonly sent: Sent;
  readonly amount: bigint;
  /** Null while it waits, and for good once a reorg has dropped it. */
  block: number | null;
};

export type World = {
  readonly slug: Slug;
  readonly caip2: string;
  readonly chain: TestChain;
  /** Listed tokens; the first is the one that is paid with. */
  readonly tokens: readonly [string, ...string[]];
  readonly proxies: readonly FaultProxy[];
  /** The first block that Florin may look at. */
  readonly start: number;
  readonly reorgs: () => number;
  submit(entry: Entry): void;
  /** One block, or a reorg. */
  step(random: Random): Promise<void>;
  settle(): Promise<void>;
  set(faults: Faults): void;
  faulty(): number;
  close(): void;
};

/**
 * A chain with the identity of the test network behind a slug: its chain id, and working tokens at the addresses of the
 * registry. Their code is that of the test token, put there as it was deployed elsewhere on the same chain.
 */
export const startChain = async (
  slug: Slug,
  finalityLag: number,
): Promise<{ chain: TestChain; tokens: [string, ...string[]] }> => {
  const { chainId, tokens } = testnets[slug];
  const chain = await startTestChain({ chainId, finalityLag, hasFactory: true });
  const addresses = tokens.map(({ address }) => getAddress(address)) as [string, ...string[]];
  for (const address of addresses) {
    await chain.node.request('hardhat_setCode', address, await chain.node.code(chain.token));
    await chain.block(chain.mint(accounts[0], 10n ** 30n, address));
  }
  // Deep enough for finality to have begun and for Florin's first block.
  await chain.mine(40);
  return { chain, tokens: addresses };
};

/** Few of them tell now and then of a branch of their own, in which nothing is different but the hashes. */
const startProxies = async (chain: TestChain, slug: Slug, options: WorldOptions) => {
  const proxies: FaultProxy[] = [];
  const above = options.isForked ? (await chain.head()) + blocksBeforeFork : Number.POSITIVE_INFINITY;
  const served = (upstream: Upstream): Upstream => inUnknownFormat(upstream, () => above);
  for (let at = 0; at < options.count; at++) {
    const branch = { above: await chain.head(), name: `${slug} ${options.seed} ${at}` };
    proxies.push(
      await startFaultProxy(served(chain.upstream), {
        seed: `${options.seed} ${slug} ${at}`,
        offersBlockReceipts: at % 2 === 0,
        ...(options.count > 2 && at % 4 === 1 ? { fork: served(forkOf(chain.upstream, branch)) } : {}),
      }),
    );
  }
  return proxies;
};

export const startWorld = async (slug: Slug, options: WorldOptions): Promise<World> => {
  const { chain, tokens } = await startChain(slug, finalityLag);
  const proxies = await startProxies(chain, slug, options);
  const start = 1;
  const waiting: Entry[] = [];
  const mined: Entry[] = [];
  let reorgs = 0;

  const mine = async (): Promise<void> => {
    const entries = waiting.splice(0, transactionsABlock);
    await chain.block(...entries.map(({ sent }) => sent));
    const number = await chain.head();
    for (const entry of entries) {
      entry.block = number;
      mined.push(entry);
    }
  };

  /** What was in the blocks that are gone is mined again elsewhere, mostly. */
  const reorganise = async (random: Random): Promise<void> => {
    const [head, final] = [await chain.head(), await chain.finalized()];
    const to = Math.max(final, head - 1 - random.below(deepestReorg));
    await chain.rewind(to);
    for (const entry of mined.filter(({ block }) => block !== null && block > to)) {
      entry.block = null;
      mined.splice(mined.indexOf(entry), 1);
      if (random.next() < 0.7) waiting.splice(random.below(waiting.length + 1), 0, entry);
    }
    const length = head - to + random.below(3) - 1;
    for (let made = 0; made < length; made++) await mine();
    reorgs += 1;
  };

  return {
    slug,
    caip2: testnets[slug].caip2,
    chain,
    tokens,
    proxies,
    start,
    reorgs: () => reorgs,
    submit: entry => void waiting.push(entry),
    step: random => (random.next() < 0.04 ? reorganise(random) : mine()),
    async settle() {
      while (waiting.length > 0) await mine();
      for (let made = 0; made <= Math.max(finalityLag, testnets[slug].rule.depth ?? 0); made++) await mine();
    },
    set(faults) {
      for (const proxy of proxies) proxy.set(faults);
    },
    faulty: () => proxies.reduce((sum, proxy) => sum + proxy.faulty(), 0),
    close() {
      for (const proxy of proxies) proxy.close();
    },
  };
};

/** Faulty answers of all worlds by kind, and all answers. */
export const countFaults = (worlds: readonly World[]): { kinds: Map<FaultKind, number>; answers: number } => {
  const kinds = new Map<FaultKind, number>();
  let answers = 0;
  for (const proxy of worlds.flatMap(world => world.proxies)) {
    for (const [kind, count] of proxy.counts()) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    for (const count of proxy.answers().values()) answers += count;
  }
  return { kinds, answers };
};
