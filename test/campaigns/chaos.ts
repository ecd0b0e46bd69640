import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { paymentStatuses } from '../../src/core/payment/states.ts';
import { findPostgres, type PostgresConnection } from '../../src/local/postgres/startPostgres.ts';
import { type Api, createApi } from './chaos/api.ts';
import { type FlorinProcess, launchFlorin, type Ready, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import { carryOut, planKill } from './chaos/kills.ts';
import { createLedger, type Ledger } from './chaos/ledger.ts';
import { drive, settle } from './chaos/load.ts';
import { type Check, countByStatus, verifyTables } from './chaos/verify.ts';
import { createRandom, type Random } from './fuzz/random.ts';

const help = `Kills a Florin with SIGKILL, over and over, on one data directory: while it starts, while it serves, with its
database and without. What a client was told must be true afterwards, and nothing may have happened twice.

  --kills N      default 100
  --seed N       default 1
  --clients N    that call it at the same time, default 8
  --help`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
});
const [kills, seed, clients] = [Number(values.kills), Number(values.seed), Number(values.clients)];

const readyTimeoutMs = 90_000;

type Merchant = { readonly accountId: string; readonly key: string };
type Scene = {
  readonly dataDir: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly startsMs: number[];
  merchant: Merchant | null;
  running: FlorinProcess | null;
};

const start = (scene: Scene): FlorinProcess => {
  const florin = launchFlorin(scene.dataDir);
  scene.running = florin;
  return florin;
};

const untilReady = async (scene: Scene, florin: FlorinProcess): Promise<Ready> => {
  const startedMs = performance.now();
  const ready = await within(florin.ready, readyTimeoutMs);
  if (!ready) throw new Error(`Florin was not ready within ${readyTimeoutMs} ms:\n${florin.output()}`);
  scene.startsMs.push(performance.now() - startedMs);
  return ready;
};

const enrol = async (dataDir: string): Promise<Merchant> => {
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Chaos', ...wide]);
  const { key } = await runFlorin(dataDir, ['keys', 'create', '--account', id as string, '--name', 'chaos']);
  return { accountId: id as string, key: key as string };
};

/** A key made by the command beside the server, which may be killed under it. */
const makeKey = async (scene: Scene, name: string): Promise<void> => {
  const args = ['keys', 'create', '--account', scene.merchant!.accountId, '--name', name];
  const made = await runFlorin(scene.dataDir, args).catch(() => null);
  if (!made) return scene.ledger.count('unanswered key');
  const entry = { id: made.id as string, name, key: made.key as string };
  scene.ledger.keys.push(entry);
  scene.ledger.acknowledge('key', { id: entry.id, name });
};

const runRound = async (scene: Scene, round: number): Promise<void> => {
  const kill = planKill(scene.random, round, scene.startsMs.at(-1));
  scene.ledger.count(`kill: ${kill.kind}`);
  const florin = start(scene);
  if (kill.kind.startsWith('starting')) {
    await Promise.race([pause(kill.afterMs), florin.exited]);
    return carryOut(kill, florin, scene.dataDir, scene.random);
  }
  const ready = await untilReady(scene, florin);
  scene.merchant ??= await enrol(scene.dataDir);
  const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key: scene.merchant.key });
  const stopping = new AbortController();
  const work = Array.from({ length: clients }, () => drive(api, scene.ledger, scene.random, stopping.signal));
  if (round % 10 === 5) work.push(makeKey(scene, `round ${round}`));
  await pause(kill.afterMs);
  await carryOut(kill, florin, scene.dataDir, scene.random);
  stopping.abort();
  await Promise.all(work);
  api.close();
};

const ownerOf = async ({ dataDir }: Scene): Promise<PostgresConnection> => {
  const found = await findPostgres({ dataDir });
  if (!found) throw new Error('no database is running');
  return found.owner;
};

/** The totals that the API tells must be the counts of the table; the sweeper may be at work, so they are asked again. */
const checkTotals = async (scene: Scene, api: Api): Promise<Check> => {
  let problems: string[] = [];
  for (let attempt = 0; attempt < 20; attempt++) {
    const counted = await countByStatus(await ownerOf(scene), scene.merchant!.accountId);
    problems = [];
    const compare = async (query: string, expected: number): Promise<void> => {
      const { body } = await api.call('GET', `/v1/payments?limit=1${query}`);
      const { total } = body.pagination as { total: number };
      if (total !== expected) problems.push(`${query || 'all'}: ${total}, counted ${expected}`);
    };
    await compare(
      '',
      [...counted.values()].reduce((sum, count) => sum + count, 0),
    );
    for (const status of paymentStatuses) await compare(`&status=${status}`, counted.get(status) ?? 0);
    if (problems.length === 0) break;
    await pause(500);
  }
  return { what: 'totals of the API equal a count, in all and for every status', problems };
};

const checkKeys = async (scene: Scene, ready: Ready): Promise<Check> => {
  const problems: string[] = [];
  const firstRun = await readFile(join(scene.dataDir, 'first-run'), 'utf8').catch(() => '');
  const firstKey = /^sandbox_key (\S+)$/m.exec(firstRun)?.[1];
  if (!firstKey) problems.push('the file first-run with the first key is missing');
  for (const key of [...(firstKey ? [firstKey] : []), ...scene.ledger.keys.map(each => each.key)]) {
    const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
    const { status } = await api.call('GET', '/v1/payments?limit=1');
    api.close();
    if (status !== 200) problems.push(`a key answers ${status}`);
  }
  return { what: `the first key and ${scene.ledger.keys.length} acknowledged keys work`, problems };
};

const finish = async (scene: Scene): Promise<Check[]> => {
  const florin = start(scene);
  const ready = await untilReady(scene, florin);
  scene.merchant ??= await enrol(scene.dataDir);
  const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key: scene.merchant.key });
  await settle(api, scene.ledger);
  const checks = [
    ...(await verifyTables(await ownerOf(scene), scene.ledger)),
    await checkTotals(scene, api),
    await checkKeys(scene, ready),
    { what: 'no answer was one that must never be given', problems: scene.ledger.outrages },
  ];
  api.close();
  const stopped = await stopFlorin(florin, scene.dataDir);
  return [...checks, { what: 'it stops by itself at the end', problems: stopped ? [] : ['it had to be killed'] }];
};

const report = (scene: Scene, startedMs: number): void => {
  const starts = scene.startsMs.toSorted((a, b) => a - b);
  const counts = [...scene.ledger.counts].sort(([a], [b]) => a.localeCompare(b));
  console.log(counts.map(([what, count]) => `  ${what} ${count}`).join('\n'));
  const median = ((starts[starts.length >> 1] ?? 0) / 1000).toFixed(1);
  console.log(
    `starts until ready: ${starts.length}, median ${median} s, slowest ${((starts.at(-1) ?? 0) / 1000).toFixed(1)} s`,
  );
  console.log(`seed ${seed}, ${kills} kills in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
};

const main = async (): Promise<number> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-chaos-'));
  const ledger = createLedger(join(dataDir, 'acknowledged.jsonl'));
  const random = createRandom(`chaos ${seed}`);
  const scene: Scene = { dataDir, ledger, random, startsMs: [], merchant: null, running: null };
  const startedMs = performance.now();
  try {
    for (let round = 0; round < kills; round++) {
      await runRound(scene, round);
      if (round % 10 === 9) console.log(`${round + 1} kills, ${ledger.payments.size} acknowledged payments`);
    }
    const checks = await finish(scene);
    report(scene, startedMs);
    for (const { what, problems } of checks) {
      console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
      for (const problem of problems.slice(0, 10)) console.log(`    ${problem}`);
    }
    const failed = checks.filter(check => check.problems.length > 0).length;
    console.log(`${checks.length - failed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    if (scene.running) await stopFlorin(scene.running, dataDir);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
};

if (values.help) console.log(help);
else process.exitCode = await main();
