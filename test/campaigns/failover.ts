import { existsSync, statfsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startGuardian } from '../support/startGuardian.ts';
import { createLedger, type Ledger } from './chaos/ledger.ts';
import type { Check } from './chaos/verify.ts';
import { chainId, type LocalChain, network, startLocalChain } from './failover/chain.ts';
import { checkAll } from './failover/check.ts';
import { type Cluster, startCluster } from './failover/cluster.ts';
import { type Kind, kinds, meaning, type Outcome, runFault } from './failover/faults.ts';
import { type Fleet, startFleet } from './failover/fleet.ts';
import { type Load, startLoad } from './failover/load.ts';
import { findPrograms, howToGetPatroni } from './failover/programs.ts';
import { type Receiver, startReceiver } from './failover/receiver.ts';
import { createRandom } from './fuzz/random.ts';
import { readAssets } from './sim/scene.ts';
import { createWorld } from './sim/world.ts';

const help = `Runs Florin over a PostgreSQL that fails over: three etcd, two Patroni with a synchronous standby (strict), and two
Florin processes that serve, watch and deliver. Payments are created and paid on a chain all the time. Meanwhile:

${kinds.map(kind => `  ${kind.padEnd(12)}${meaning[kind]}`).join('\n')}

The kinds take turns. What was killed or stopped is started again, and the next fault waits until a synchronous standby
streams. With two nodes, strict mode takes no write while one is missing, so the lost node is started as soon as the other
is the primary. The time counts from the fault, for etcd from its return after 10 seconds, until creations are accepted
again and stay so. In the end no acknowledged payment, credit, event or row of the audit log may be lost or doubled, every
refusal must have been 503, and each time must be within the bar.

  --each N       faults of each kind, default 20: about 45 minutes
  --kinds LIST   default ${kinds.join(',')}
  --bar N        seconds, default 30
  --seed N       default 1
  --on FOLDER    for the databases, default /dev/shm where it has 4 GB: a returning server syncs all its files, and a slow
                 disk would be measured instead
  --logs FOLDER  keeps the logs of etcd, Patroni and Florin there
  --help

${howToGetPatroni}`;

const memoryDisk = '/dev/shm';
const roomyBytes = 4 * 2 ** 30;

/** The default for --on. */
const roomiest = (): string => {
  if (!existsSync(memoryDisk)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryDisk);
  return bavail * bsize > roomyBytes ? memoryDisk : tmpdir();
};

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '20' },
    kinds: { type: 'string', default: kinds.join(',') },
    bar: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    on: { type: 'string', default: roomiest() },
    logs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const [each, barSeconds] = [Number(values.each), Number(values.bar)];
const chosen = values.kinds.split(',').map(name => {
  const kind = kinds.find(known => known === name);
  if (kind === undefined) throw new Error(`--kinds: ${name} is none of ${kinds.join(', ')}`);
  return kind;
});

const florins = 2;
/** Between two faults, so that payments get through. */
const [shortestRestMs, longestRestMs] = [2_000, 5_000];

type Scene = {
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  readonly chain: LocalChain;
  readonly receiver: Receiver;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const median = (sorted: readonly number[]): number => sorted[(sorted.length - 1) >> 1]!;

const tell = (outcome: Outcome, round: number, rounds: number): void => {
  const { kind, promotedMs, acceptedMs, refusals, problems } = outcome;
  const promoted = promotedMs === null ? '' : `other primary after ${seconds(promotedMs)} s, `;
  const times = `${promoted}creations accepted after ${seconds(acceptedMs)} s, ${refusals} refusals`;
  console.log(`${round}/${rounds} ${kind}: ${times}${problems.map(problem => ` FAILED: ${problem}`).join('')}`);
};

/** One line for each kind. */
const tabulate = (outcomes: readonly Outcome[]): void => {
  const figures = (all: readonly number[]): string => {
    const sorted = all.toSorted((a, b) => a - b);
    return sorted.length === 0 ? '-' : `${seconds(median(sorted))} / ${seconds(sorted.at(-1)!)}`;
  };
  const row = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(at === 0 ? 54 : 18))
      .join('')
      .trimEnd();
  console.log(`\n${row(['seconds, median / worst', 'faults', 'other primary', 'accepted again'])}`);
  for (const kind of chosen) {
    const own = outcomes.filter(outcome => outcome.kind === kind);
    const promoted = own.flatMap(({ promotedMs }) => promotedMs ?? []);
    console.log(
      row([meaning[kind], `${own.length}`, figures(promoted), figures(own.map(({ acceptedMs }) => acceptedMs))]),
    );
  }
  console.log('');
};

const judgeTimes = (outcomes: readonly Outcome[]): Check => ({
  what: `after each of ${outcomes.length} faults, creations were accepted within ${barSeconds} s`,
  problems: outcomes.flatMap(({ kind, acceptedMs, problems }, at) => [
    ...problems.map(problem => `${at + 1} ${kind}: ${problem}`),
    ...(acceptedMs > barSeconds * 1_000 ? [`${at + 1} ${kind}: ${seconds(acceptedMs)} s`] : []),
  ]),
});

const subscribe = async ({ fleet, receiver }: Scene, ledger: Ledger): Promise<string> => {
  const sentMs = Date.now();
  const events = ['*'];
  const { status, body } = await fleet.apis[0]!.call('POST', '/v1/webhooks', { body: { url: receiver.url, events } });
  if (status !== 200) throw new Error(`the endpoint was answered with ${status} ${JSON.stringify(body)}`);
  ledger.endpoints.push({ id: String(body.id), events, sentMs, ackedMs: Date.now() });
  return String(body.id);
};

const rage = async ({ cluster }: Scene, load: Load): Promise<Outcome[]> => {
  const random = createRandom(`failover faults ${values.seed}`);
  const plan: Kind[] = Array.from({ length: each }, () => chosen).flat();
  const outcomes: Outcome[] = [];
  for (const [at, kind] of plan.entries()) {
    await pause(shortestRestMs + random.below(longestRestMs - shortestRestMs));
    const outcome = await runFault(kind, cluster, load, random);
    outcomes.push(outcome);
    tell(outcome, at + 1, plan.length);
  }
  return outcomes;
};

const judge = async (scene: Scene, room: string): Promise<Check[]> => {
  const { cluster, fleet, chain, receiver } = scene;
  const random = createRandom(`failover load ${values.seed}`);
  const world = createWorld(`failover ${values.seed}`, random, chainId);
  await world.join(chain.rpc, true);
  const assets = await readAssets(fleet.apis[0]!);
  const token = assets.find(asset => asset.network === network && asset.symbol === 'USDC')!.contract!;
  const ledger = createLedger(join(room, 'acknowledged.jsonl'));
  const endpointId = await subscribe(scene, ledger);
  const paidOn = { rpc: chain.rpc, world, token };
  const load = startLoad({ apis: fleet.apis, ledger, endpointId, chain: paidOn, random });
  const outcomes = await rage(scene, load);
  await load.end();
  tabulate(outcomes);
  const counts = [...ledger.counts].map(([what, count]) => `${what} ${count}`).join(', ');
  const { what, status, waitedMs } = load.slowest();
  console.log(`${counts}; the slowest answer took ${seconds(waitedMs)} s: ${what} ${status}\n`);
  const { primary } = await cluster.roles();
  const connection = {
    ...{ host: '127.0.0.1', port: primary.port, database: 'florin' },
    ...{ user: 'postgres', password: cluster.passwords.superuser },
  };
  return [
    judgeTimes(outcomes),
    ...(await checkAll({ connection, ledger, load, receiver, chain: paidOn })),
    { what: 'florin doctor finds nothing', problems: await fleet.doctor() },
  ];
};

const keepLogs = async (room: string, fleet: Fleet | null, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const written = join(room, 'cluster');
  for (const name of await readdir(written)) {
    if (name.endsWith('.log')) await copyFile(join(written, name), join(folder, name));
  }
  for (const { name, text } of fleet?.outputs() ?? []) await writeFile(join(folder, `${name}.log`), text);
};

const run = async (room: string): Promise<Check[]> => {
  let fleet: Fleet | null = null;
  await using started = new AsyncDisposableStack();
  const chain = await startLocalChain();
  started.defer(() => chain.close());
  const receiver = await startReceiver();
  started.defer(() => receiver.close());
  const cluster = await startCluster(room, findPrograms()!);
  started.defer(() => cluster.stop());
  if (values.logs) started.defer(() => keepLogs(room, fleet, values.logs!));
  await cluster.untilHealthy();
  fleet = await startFleet(room, cluster, chain.configFile, florins);
  const running = fleet;
  console.log(`${florins} Florin processes over two Patroni and three etcd are ready`);
  const checks = await judge({ cluster, fleet, chain, receiver }, room);
  return [...checks, { what: 'no Florin process had to be started again', problems: await running.stop() }];
};

const main = async (): Promise<number> => {
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (findPrograms() === null) {
    console.error(howToGetPatroni);
    return 2;
  }
  const startedMs = performance.now();
  const room = await mkdtemp(join(await realpath(values.on), 'florin-failover-'));
  await chmod(room, 0o755);
  startGuardian([room]);
  const checks = await run(room);
  for (const { what, problems } of checks) {
    console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
    for (const problem of problems.slice(0, 10)) console.log(`    ${problem}`);
  }
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`seed ${values.seed}, ${((performance.now() - startedMs) / 60_000).toFixed(0)} min`);
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
};

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// The chain keeps threads of its own alive.
process.exit();
