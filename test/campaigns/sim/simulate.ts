import type { Api } from '../chaos/api.ts';
import type { Random } from '../fuzz/random.ts';
import type { ChainRpc } from './chainRpc.ts';
import { checkAtEnd } from './checkAtEnd.ts';
import type { Check } from './checkChain.ts';
import type { Checker } from './checker.ts';
import type { Customers } from './customers.ts';
import type { TablesConnection } from './scene.ts';
import type { World } from './world.ts';

export type Sizes = { readonly reorgs: number; readonly transfers: number; readonly depth: number };

export type Stage = {
  readonly api: Api;
  readonly rpc: ChainRpc;
  readonly tables: TablesConnection;
  readonly world: World;
  readonly customers: Customers;
  readonly checker: Checker;
  readonly random: Random;
  /** Called when all payments are made and paid, before the chain comes to rest. */
  onLastPayment(): void;
};

export type Tally = {
  reorgs: number;
  /** Those before and after which the watcher stood on the head of the branch. */
  seen: number;
  deepest: number;
  blocks: number;
  orphaned: number;
  dropped: number;
  earlier: number;
  later: number;
  /** Transfers that stood, at some moment, in or below the block that was the newest when their payment was made. */
  inCreationBlock: Set<string>;
  checks: number;
  faults: Map<string, string[]>;
};

/** A reader of faulty nodes waits after each fault. */
const readTimeoutMs = 240_000;
const checkEvery = 100;
/** A share of reorgs follow on each other faster than the watcher reads. */
const hurriedShare = 0.1;
const twinShare = 0.05;

/** Mostly shallow, as reorgs are, and every fourth of any depth. */
const depthOf = (random: Random, round: number): number =>
  round % 4 === 0 ? 1 + random.below(64) : Math.min(64, Math.floor(64 ** random.next()));

const noteFaults = (tally: Tally, checks: readonly Check[], when: string): void => {
  tally.checks += 1;
  for (const { what, problems } of checks) {
    if (problems.length === 0) continue;
    const name = what.split(' ').slice(0, 3).join(' ');
    const known = tally.faults.get(name) ?? [];
    known.push(`${when}: ${what}`, ...problems.slice(0, 5));
    tally.faults.set(name, known);
  }
};

const noteCreationBlocks = ({ world, customers }: Stage, tally: Tally): void => {
  for (const [hash, height] of world.heights()) {
    for (const { to } of world.ledger.get(hash) ?? []) {
      const payment = customers.payments.get(to);
      if (payment && height <= payment.createdAtHeight) tally.inCreationBlock.add(`${hash} ${to}`);
    }
  }
};

const readUp = async ({ rpc, tables, world }: Stage): Promise<void> =>
  tables.untilRead(() => world.headHash(rpc), readTimeoutMs);

const checkNow = async (stage: Stage, tally: Tally, isSettled: boolean, when: string): Promise<Check[]> => {
  const { rpc, tables, checker } = stage;
  await readUp(stage);
  const checks = await tables.inOneMoment(client => checker.check({ client, rpc, isSettled }));
  noteFaults(tally, checks, when);
  return checks;
};

const runRound = async (stage: Stage, tally: Tally, round: number, sizes: Sizes): Promise<void> => {
  const { api, rpc, world, customers, random } = stage;
  const owed = Math.ceil((sizes.transfers * (round + 1)) / sizes.reorgs) - customers.planned();
  const height = await world.headOf(rpc);
  // About two transfers a payment.
  const many = Math.max(0, Math.ceil(owed / 1.7));
  await Promise.all(Array.from({ length: many }, () => customers.create(api, round, height)));
  await world.mine(rpc, customers.orders(round, false));
  const isHurried = random.next() < hurriedShare;
  if (!isHurried) await readUp(stage);
  const reorg = await world.reorganise(rpc, depthOf(random, round), random.next() < twinShare);
  if (reorg === null) return;
  if (!isHurried) await readUp(stage);
  tally.reorgs += 1;
  if (!isHurried) tally.seen += 1;
  tally.deepest = Math.max(tally.deepest, reorg.depth);
  tally.blocks += reorg.depth;
  for (const what of ['orphaned', 'dropped', 'earlier', 'later'] as const) tally[what] += reorg[what];
  if (reorg.earlier > 0) noteCreationBlocks(stage, tally);
};

/** Pays and reorganises until it is enough, then lets everything come to rest. Answers the last checks. */
export const simulate = async (stage: Stage, sizes: Sizes, say: (line: string) => void) => {
  const { rpc, world, customers, tables } = stage;
  const tally: Tally = {
    reorgs: 0,
    seen: 0,
    deepest: 0,
    blocks: 0,
    orphaned: 0,
    dropped: 0,
    earlier: 0,
    later: 0,
    inCreationBlock: new Set(),
    checks: 0,
    faults: new Map(),
  };
  // A chain to go back on.
  await world.bury(rpc, 66);
  const rounds = sizes.reorgs + 20;
  for (let round = 0; tally.reorgs < sizes.reorgs && round < rounds; round++) {
    await runRound(stage, tally, round, sizes);
    if (round % checkEvery === checkEvery - 1) {
      await checkNow(stage, tally, false, `after ${tally.reorgs} reorgs`);
      say(
        `${tally.reorgs} reorgs, ${customers.payments.size} payments, ${customers.planned()} transfers, ${tally.faults.size} faults`,
      );
    }
  }
  const height = await world.headOf(rpc);
  while (customers.planned() < sizes.transfers) await customers.create(stage.api, rounds, height);
  await world.mine(rpc, customers.orders(rounds, true));
  stage.onLastPayment();
  await readUp(stage);
  await world.bury(rpc, sizes.depth + 8);
  await readUp(stage);
  const checks = await checkAtEnd(customers.payments.size, async () => {
    await tables.untilDecided(readTimeoutMs);
    return tables.inOneMoment(client => stage.checker.check({ client, rpc, isSettled: true }));
  });
  noteFaults(tally, checks, 'at the end');
  return { tally, checks };
};
