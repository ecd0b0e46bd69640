import { parseArgs } from 'node:util';
import { findPostgres, findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { stopFlorin } from './chaos/florinProcess.ts';
import { createRandom } from './fuzz/random.ts';
import type { Check } from './sim/checkChain.ts';
import { createChecker } from './sim/checker.ts';
import { checkTheChecker } from './sim/corruptions.ts';
import { createCustomers } from './sim/customers.ts';
import { type FaultyNodes, faultySlug, startFaultyNodes } from './sim/faultyNodes.ts';
import { openOrigins } from './sim/origins.ts';
import {
  enrol,
  makeRoom,
  openApi,
  openTables,
  type Room,
  type Running,
  readAssets,
  removeRoom,
  startIn,
} from './sim/scene.ts';
import { type Sizes, type Stage, simulate, type Tally } from './sim/simulate.ts';
import { createWorld, localChainId } from './sim/world.ts';

const help = `Pays thousands of payments on the local chain of a real Florin while the chain is reorganised over and over.
Merchants sweep meanwhile. A checker that shares nothing with Florin's source walks the chain and states what must hold
(I1-I5, I7, I8, I16: the ledger equals the chain to the base unit).

With --omissions Florin reads the chain through twelve nodes that leave out blocks, logs, receipts and balances. One of
them empties bloom filters, another forges headers. With \`hasHash\` in src/chains/evm/headerHash.ts always true, that
must fail.

  --reorgs N             default 1000, of depth 1 to 64
  --transfers N          default 10000
  --depth N              confirmations that complete a payment, default 2; with 72 no reorg may reverse one
  --seed N               default 1
  --omissions            read through nodes that leave things out
  --check-the-checker    afterwards spoil the database in many ways, each of which must be noticed
  --help`;

const { values } = parseArgs({
  options: {
    reorgs: { type: 'string', default: '1000' },
    transfers: { type: 'string', default: '10000' },
    depth: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    omissions: { type: 'boolean', default: false },
    'check-the-checker': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const sizes: Sizes = {
  reorgs: Number(values.reorgs),
  transfers: Number(values.transfers),
  depth: Number(values.depth),
};
/** Reorgs go 64 blocks deep, and the node may mine a few on its own meanwhile. */
const reachOfReorgs = 70;

const report = ({ customers }: Stage, tally: Tally, startedMs: number): void => {
  const habits = [...customers.counts].map(([what, count]) => `${what} ${count}`).join(', ');
  const { reorgs, seen, deepest, blocks, orphaned, dropped, earlier, later } = tally;
  console.log(`payments: ${customers.payments.size}; ${habits}`);
  console.log(
    `transfers planned ${customers.planned()}; reorgs ${reorgs}, of which the watcher read both branches of ${seen}; ` +
      `deepest ${deepest}, ${blocks} blocks replaced`,
  );
  console.log(
    `transactions in replaced blocks: ${orphaned}; dropped ${dropped}, mined again lower ${earlier}, higher ${later}; ` +
      `transfers in or below the creation block of their payment: ${tally.inCreationBlock.size}`,
  );
  console.log(`seed ${seed}, depth ${sizes.depth}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
};

const show = (checks: readonly Check[]): readonly Check[] => {
  for (const { what, problems } of checks) {
    console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
    for (const problem of problems.slice(0, 12)) console.log(`    ${problem}`);
  }
  return checks;
};

const prepare = async (room: Room, running: Running, nodes: FaultyNodes | null): Promise<Stage> => {
  const found = await findPostgres({ dataDir: room.dataDir });
  if (!found) throw new Error('no database is running');
  const key = await enrol(room);
  const api = openApi(running, key);
  const random = createRandom(`sim ${seed}`);
  const { chainId, rpc } = nodes ?? { chainId: localChainId, rpc: running.rpc };
  const world = createWorld(`sim ${seed}`, random, chainId);
  const listed = await readAssets(api);
  const assets = nodes === null ? listed : listed.filter(({ network }) => network === faultySlug);
  await world.join(rpc, true);
  const caip2 = `eip155:${chainId}`;
  const checker = createChecker({
    caip2,
    depth: sizes.depth,
    mayReverse: sizes.depth <= reachOfReorgs,
    needsProof: nodes !== null,
    chain: world.memory,
    listed: new Set(assets.flatMap(({ contract }) => contract ?? [])),
    ledger: world.ledger,
  });
  const tables = await openTables(found.owner, caip2);
  const customers = createCustomers(assets, random, await openOrigins(room, found.owner));
  return { api, rpc, tables, world, customers, checker, random, onLastPayment: () => nodes?.heal() };
};

const checksOf = async (room: Room, stage: Stage, startedMs: number): Promise<readonly Check[]> => {
  const { tally, checks } = await simulate(stage, sizes, line => console.log(line));
  report(stage, tally, startedMs);
  const during = [...tally.faults.values()].flat();
  const all = show([
    ...checks,
    { what: `${tally.checks} checks on the way found nothing`, problems: during },
    {
      what: `there were ${sizes.reorgs} reorgs and ${sizes.transfers} transfers`,
      problems:
        tally.reorgs >= sizes.reorgs && stage.customers.planned() >= sizes.transfers ? [] : ['there were fewer'],
    },
  ]);
  if (!values['check-the-checker']) return all;
  const superuser = await findSuperuser({ dataDir: room.dataDir });
  if (!superuser) throw new Error('no database is running');
  return [...all, ...show(await checkTheChecker({ ...superuser, database: 'florin' }, stage))];
};

const main = async (): Promise<number> => {
  if (values.help) {
    console.log(help);
    return 0;
  }
  const startedMs = performance.now();
  const nodes = values.omissions ? await startFaultyNodes(`sim ${seed}`) : null;
  const room = await makeRoom('sim', sizes.depth, {}, nodes?.networks);
  let running: Running | null = null;
  let stage: Stage | null = null;
  try {
    running = await startIn(room);
    stage = await prepare(room, running, nodes);
    const checks = await checksOf(room, stage, startedMs);
    if (nodes) console.log(`${nodes.faulty()} faulty answers`);
    const failed = checks.filter(check => check.problems.length > 0).length;
    console.log(`${checks.length - failed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } catch (error) {
    console.log(running?.florin.output());
    throw error;
  } finally {
    stage?.api.close();
    await stage?.tables.close();
    if (running) await stopFlorin(running.florin, room.dataDir);
    nodes?.close();
    await removeRoom(room);
  }
};

process.exitCode = await main();
// A chain in this process keeps threads of its own alive.
process.exit();
