import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { localCaip2 } from '../src/cli/watchedChains.ts';
import { silentLog } from '../src/core/log.ts';
import { sealRows } from '../src/engine/seals/sealRows.ts';
import { openContext } from './benchContext.ts';
import {
  copyDatabase,
  createDatabase,
  createMigrated,
  dropDatabase,
  serviceOf,
  superuserOf,
  withClient,
} from './benchDatabases.ts';
import { cpuSeconds, median, round } from './figures.ts';
import { benchMatching } from './matching.ts';
import { paidAmount, paidToken, writeOpenPayments } from './openPayments.ts';
import type { PlainLoopDone, PlainLoopStart } from './plainLoop.ts';
import { runProcess } from './runProcess.ts';
import type { Scene } from './scene.ts';
import { startTransferChain, type TransferChain } from './transferChain.ts';
import type { WatcherDone, WatcherStart } from './watcherProcess.ts';

const target = 1.2;
const perBlock = 10;
const oneIn = 100;
const [everyDatabase, fewDatabase, turnDatabase, plainDatabase] = [
  'bench_ingest_every',
  'bench_ingest_few',
  'bench_ingest_turn',
  'bench_ingest_plain',
] as const;

const plainTable = `create table plain_transfers (block_number bigint, block_hash text, block_time bigint, tx_hash text,
  log_index integer, sender text, recipient text, amount numeric)`;

/** The rows of a chain that Florin has read up to the block before the first transfer. */
const cursorAt = ({ before }: TransferChain): string => `
  insert into chains (caip2, start_number, latest_number, latest_hash)
    values ('${localCaip2}', ${before.number}, ${before.number}, '${before.hash}');
  insert into blocks (caip2, hash, number, parent_hash, timestamp, canonical, empty)
    values ('${localCaip2}', '${before.hash}', ${before.number}, '${before.parentHash}', to_timestamp(${before.timestamp}), true, true)`;

/** Creates a database in which every recipient is a payment address, and one in which few are. */
const prepare = async (scene: Scene, transfers: number, folder: string): Promise<TransferChain> => {
  await createMigrated(scene, everyDatabase);
  const service = await serviceOf(scene, everyDatabase);
  const context = await openContext({ dataDir: scene.dataDir, service, rpcUrl: null, log: silentLog });
  const plan = { database: everyDatabase, payments: transfers, withEvents: true };
  const recipients = await writeOpenPayments(scene, context, plan);
  console.log(`  mining ${transfers} transfers in ${transfers / perBlock} blocks…`);
  const chain = await startTransferChain(folder, { token: paidToken, amount: paidAmount, recipients, perBlock });
  await withClient(superuserOf(scene, everyDatabase), client => client.query(cursorAt(chain)));
  await sealRows(context, { all: false, tables: table => table === 'chains' || table === 'blocks' });
  await context.db.close();
  await copyDatabase(scene, everyDatabase, fewDatabase);
  await withClient(superuserOf(scene, fewDatabase), async client => {
    await client.query(`set session_replication_role = replica;
      delete from events e using payments p where p.id = e.payment_id and p.derivation_index % ${oneIn} <> 0;
      delete from payments where derivation_index % ${oneIn} <> 0`);
    await client.query('vacuum full analyze');
  });
  await createDatabase(scene, plainDatabase);
  await withClient(superuserOf(scene, plainDatabase), client => client.query(plainTable));
  return chain;
};

/** Checks that everything was written. Payments in the last block still lack a confirmation. */
const checkFlorin = async (scene: Scene, payments: number, unconfirmed: number): Promise<void> => {
  const { rows } = await withClient(superuserOf(scene, turnDatabase), client =>
    client.query(`select (select count(*)::int from transfers where verified and not stray and canonical) as transfers,
      (select count(*)::int from payments where status = 'completed') as completed,
      (select count(*)::int from events) as events`),
  );
  const expected = { transfers: payments, completed: payments - unconfirmed, events: payments * 4 - unconfirmed };
  if (JSON.stringify(rows[0]) !== JSON.stringify(expected)) {
    throw new Error(`florin wrote ${JSON.stringify(rows[0])}, expected ${JSON.stringify(expected)}`);
  }
};

type Turn = {
  readonly seconds: number;
  /** Of the process itself; then of the node and of PostgreSQL on its behalf. */
  readonly cpuSeconds: number;
  readonly nodeCpuSeconds: number;
  readonly serverCpuSeconds: number;
};

/** CPU time of a database's connections so far. */
const serverCpu = async (scene: Scene, database: string): Promise<number> => {
  const { rows } = await withClient(superuserOf(scene), client =>
    client.query('select pid from pg_stat_activity where datname = $1', [database]),
  );
  return cpuSeconds(rows.map(row => row.pid));
};

const florinTurn = async (
  scene: Scene,
  chain: TransferChain,
  variant: Variant,
): Promise<Turn & Pick<WatcherDone, 'statements'>> => {
  await copyDatabase(scene, variant.database, turnDatabase);
  const service = await serviceOf(scene, turnDatabase);
  const nodeBefore = cpuSeconds([chain.nodePid]);
  const start = { dataDir: scene.dataDir, service, rpcUrl: chain.rpcUrl };
  const { done, stop } = await runProcess<WatcherStart, WatcherDone>('./watcherProcess.ts', start);
  const nodeCpuSeconds = cpuSeconds([chain.nodePid]) - nodeBefore;
  const serverCpuSeconds = await serverCpu(scene, turnDatabase);
  await stop();
  await checkFlorin(scene, variant.payments, variant.unconfirmed);
  return { ...done, nodeCpuSeconds, serverCpuSeconds };
};

const plainTurn = async (
  scene: Scene,
  chain: TransferChain,
  { transfers, withTransactions = false }: { transfers: number; withTransactions?: boolean },
): Promise<Turn> => {
  const database = superuserOf(scene, plainDatabase);
  await withClient(database, client => client.query('truncate plain_transfers'));
  await withClient(database, client => client.query('checkpoint'));
  const [from, to] = [chain.before.number + 1, chain.head.number];
  const nodeBefore = cpuSeconds([chain.nodePid]);
  const start = { database, rpcUrl: chain.rpcUrl, token: paidToken, from, to, withTransactions };
  const { done, stop } = await runProcess<PlainLoopStart, PlainLoopDone>('./plainLoop.ts', start);
  const nodeCpuSeconds = cpuSeconds([chain.nodePid]) - nodeBefore;
  const serverCpuSeconds = await serverCpu(scene, plainDatabase);
  await stop();
  if (done.rows !== transfers) throw new Error(`the plain loop wrote ${done.rows} rows, expected ${transfers}`);
  return { ...done, nodeCpuSeconds, serverCpuSeconds };
};

type Variant = {
  readonly name: string;
  readonly database: string;
  readonly payments: number;
  readonly unconfirmed: number;
};

const medianOf = <T extends Turn>(turns: readonly T[], pick: (turn: T) => number): number =>
  round(median(turns.map(pick)));

const cpuOf = (turns: readonly Turn[]): string =>
  `${medianOf(turns, t => t.cpuSeconds)} s + node ${medianOf(turns, t => t.nodeCpuSeconds)} s + PostgreSQL ${medianOf(turns, t => t.serverCpuSeconds)} s`;

const costliest = (turns: readonly Pick<WatcherDone, 'statements'>[]): string => {
  const names = new Set(turns.flatMap(({ statements }) => Object.keys(statements)));
  return [...names]
    .map(name => ({ name, seconds: round(median(turns.map(({ statements }) => statements[name] ?? 0))) }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 8)
    .map(({ name, seconds }) => `${name} ${seconds}`)
    .join(', ');
};

const compare = async (
  scene: Scene,
  chain: TransferChain,
  variant: Variant,
  options: { rounds: number; transfers: number },
): Promise<boolean> => {
  const florinTurns: (Turn & Pick<WatcherDone, 'statements'>)[] = [];
  const plainTurns: Turn[] = [];
  const fullPlainTurns: Turn[] = [];
  for (let i = 0; i < options.rounds; i++) {
    const plain = await plainTurn(scene, chain, options);
    const florin = await florinTurn(scene, chain, variant);
    plainTurns.push(plain);
    florinTurns.push(florin);
    fullPlainTurns.push(await plainTurn(scene, chain, { ...options, withTransactions: true }));
    console.log(
      `  ${variant.name}, round ${i + 1}: florin ${round(florin.seconds)} s, plain loop ${round(plain.seconds)} s, ratio ${round(florin.seconds / plain.seconds)}`,
    );
  }
  const ratio = median(florinTurns.map((turn, i) => turn.seconds / plainTurns[i]!.seconds));
  console.log(
    `ingest, ${variant.name}: florin ${medianOf(florinTurns, t => t.seconds)} s, plain loop ${medianOf(plainTurns, t => t.seconds)} s, ratio ${round(ratio)} (target ${target})`,
  );
  const fullRatio = median(florinTurns.map((turn, i) => turn.seconds / fullPlainTurns[i]!.seconds));
  console.log(
    `  plain loop that also reads transactions, as native coin needs: ${medianOf(fullPlainTurns, t => t.seconds)} s, ratio ${round(fullRatio)}`,
  );
  console.log(`  CPU: florin ${cpuOf(florinTurns)}; plain loop ${cpuOf(plainTurns)}`);
  console.log(`  seconds that florin waited for SQL: ${costliest(florinTurns)}`);
  return ratio <= target;
};

/** Compares reading a chain's history with a plain loop on the same node and server, round by round. */
export const benchIngest = async (
  scene: Scene,
  options: { rounds: number; transfers: number; open: number },
): Promise<boolean> => {
  const folder = await mkdtemp(join(scene.dataDir, 'bench-ingest-'));
  const { transfers } = options;
  const chain = await prepare(scene, transfers, folder);
  let isMet = true;
  try {
    await plainTurn(scene, chain, options);
    const all = { name: 'each to a payment', database: everyDatabase, payments: transfers, unconfirmed: perBlock };
    const few = {
      name: `1 in ${oneIn} to a payment`,
      database: fewDatabase,
      payments: transfers / oneIn,
      unconfirmed: 0,
    };
    for (const variant of [all, few]) {
      const isFast = await compare(scene, chain, variant, options);
      isMet &&= isFast;
    }
  } finally {
    await chain.stop();
    for (const name of [everyDatabase, fewDatabase, turnDatabase, plainDatabase]) await dropDatabase(scene, name);
    await rm(folder, { recursive: true, force: true });
  }
  const isFlat = await benchMatching(scene, options.open);
  return isMet && isFlat;
};
