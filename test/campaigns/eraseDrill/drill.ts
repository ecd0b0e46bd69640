import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../../../src/core/log.ts';
import { names } from '../../../src/local/postgres/createCluster.ts';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { tablesWithText } from '../../support/findTexts.ts';
import { answer, command } from '../backupDrill/commands.ts';
import type { Api } from '../chaos/api.ts';
import { stopFlorin } from '../chaos/florinProcess.ts';
import type { Random } from '../fuzz/random.ts';
import type { Check } from '../sim/checkChain.ts';
import { createChecker } from '../sim/checker.ts';
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
} from '../sim/scene.ts';
import { localChainId } from '../sim/world.ts';
import { type Made, type Market, makePayments, resendCallbacks, shownOf, startEcho, untilEnded } from './customers.ts';
import { filesWithText } from './findInFiles.ts';

export type DrillOptions = {
  /** Payments that are erased. A tenth as many are kept. */
  readonly payments: number;
  readonly random: Random;
  tell(text: string): void;
};

const depth = 3;
const timeoutMs = 600_000;
/** No other word contains one of them. */
const [erasedWord, keptWord] = ['Zwqxer', 'Zwqxke'];

type Drill = DrillOptions & {
  readonly room: Room;
  readonly running: Running;
  readonly api: Api;
  readonly market: Market;
  readonly superuser: pg.ClientConfig & {
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
  };
  readonly checks: Check[];
};

const check = ({ checks, tell }: Drill, what: string, problems: readonly string[]): void => {
  checks.push({ what, problems: [...problems] });
  tell(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
  for (const problem of problems.slice(0, 10)) tell(`    ${problem.slice(0, 400)}`);
};
const missing = (found: readonly string[], what: string): string[] =>
  found.length > 0 ? [] : [`not even ${what} is found`];

const searchTables = async ({ superuser }: Drill, text: string): Promise<string[]> => {
  const db = openDatabase(superuser, { log: silentLog, maxConnections: 1, queryTimeoutMs: timeoutMs });
  try {
    return await tablesWithText(db, text);
  } finally {
    await db.close();
  }
};

/**
 * The simulation's checker, which shares no code with Florin, and the doctor. The chain goes on, and the simulation cancels
 * nothing, so it is asked as on its way.
 */
const checkRecords = async (drill: Drill): Promise<void> => {
  const { room, running, market, superuser } = drill;
  const assets = await readAssets(drill.api);
  const checker = createChecker({
    caip2: `eip155:${localChainId}`,
    depth,
    mayReverse: false,
    needsProof: false,
    chain: { highestAt: () => Number.POSITIVE_INFINITY, wasOrphaned: () => false },
    listed: new Set(assets.flatMap(({ contract }) => contract ?? [])),
    ledger: market.ledger,
  });
  const tables = await openTables(superuser);
  try {
    await tables.untilDecided(timeoutMs);
    const checks = await tables.inOneMoment(client => checker.check({ client, rpc: running.rpc, isSettled: false }));
    for (const { what, problems } of checks) check(drill, what, problems);
  } finally {
    await tables.close();
  }
  for (const args of [['doctor'], ['doctor', '--deep']]) {
    const { stdout } = await command([...args, '--json', '--data-dir', room.dataDir]);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; ok: boolean; detail: string }[] };
    const bad = findings.filter(finding => !finding.ok).map(finding => `${finding.check}: ${finding.detail}`);
    check(drill, `florin ${args.join(' ')} finds nothing`, bad);
  }
};

const blank = (text: string): string =>
  text
    .replaceAll(/"metadata":\{"name".*?\},"environment"/g, '"metadata":{},"environment"')
    .replaceAll(/"(description|callbackUrl)":"[^"]*"/g, '"$1":null')
    .replaceAll(/"redirectUrl":"[^"]*"/g, '"redirectUrl":null');

/** What the API shows, besides the texts: the same as before, to the byte. */
const checkShown = async (
  drill: Drill,
  payments: readonly Made[],
  before: ReadonlyMap<string, string>,
): Promise<void> => {
  const after = await shownOf(drill.api, payments);
  const changed = payments.filter(({ id }) => after.get(id) !== blank(before.get(id)!));
  check(
    drill,
    'the API shows no text, and all else as before',
    changed.map(({ id }) => `${id}: ${after.get(id)}`),
  );
};

/** PostgreSQL keeps files of its log to use them again. This uses them, as payments do in time. */
const useLogAgain = async ({ superuser, room, tell }: Drill): Promise<string[]> => {
  const client = new pg.Client(superuser);
  await client.connect();
  const files = join(room.dataDir, 'postgres', 'cluster', 'pg_wal');
  try {
    for (let round = 0; ; round++) {
      await client.query('checkpoint');
      const left = await filesWithText(files, erasedWord);
      if (left.length === 0) tell(`no file of the write-ahead log has a text after ${round} more files`);
      if (left.length === 0 || round === 400) return left;
      for (let file = 0; file < 4; file++) {
        await client.query(`select pg_logical_emit_message(false, 'drill', 'x')`);
        await client.query('select pg_switch_wal()');
      }
    }
  } finally {
    await client.end();
  }
};

const searchFiles = async (drill: Drill, directory: string, where: string): Promise<void> => {
  check(drill, `${where} has no text`, await filesWithText(directory, erasedWord));
  const kept = await filesWithText(directory, keptWord);
  check(drill, `${where} has the texts that are kept, so the search finds some`, missing(kept, 'a text that is kept'));
};

/** A backup from now on, opened elsewhere. */
const checkBackup = async (drill: Drill): Promise<void> => {
  const { room, dataDir } = drill.room;
  const [identity, to, target] = ['identity', 'backups', 'elsewhere'].map(name => join(room, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(to);
  const { recipient } = (await answer(['backup', 'identity', '--output', identity])).json;
  const { file } = (await answer(['backup', '--to', to, '--recipient', recipient, '--data-dir', dataDir])).json;
  const masterKey = join(dataDir, 'keys', 'master');
  await answer([
    'restore',
    '--from',
    file,
    '--identity',
    identity,
    '--data-dir',
    target,
    '--master-key-file',
    masterKey,
  ]);
  await searchFiles(drill, target, 'a backup made later');
};

const erase = async (drill: Drill, payments: readonly Made[]): Promise<void> => {
  const { json, seconds } = await answer([
    ...['erase', '--yes', '--rewrite', '--callback-url', '--data-dir', drill.room.dataDir, '--payment'],
    ...payments.map(({ id }) => id),
  ]);
  const erased = json.payments as { payment: boolean; events: number; responses: number; answers: number }[];
  const sum = (read: (of: (typeof erased)[number]) => number): number =>
    erased.reduce((total, of) => total + read(of), 0);
  drill.tell(
    `erased ${payments.length} payments in ${seconds.toFixed(1)} s: ${sum(of => of.events)} events, ${sum(of => of.responses)} answers of receivers, ${sum(of => of.answers)} kept answers`,
  );
  check(
    drill,
    'every payment had something to erase',
    erased.filter(of => !of.payment || of.events < 2 || of.answers < 1).map(of => JSON.stringify(of)),
  );
  check(drill, 'no transaction held earlier rows', json.waited ? [] : ['one did']);
};

const prepare = async (options: DrillOptions, room: Room, running: Running, callback: string): Promise<Drill> => {
  const api = openApi(running, await enrol(room));
  const token = (await readAssets(api)).find(({ network, symbol }) => network === 'base' && symbol === 'USDC')!;
  const superuser = { ...(await findSuperuser({ dataDir: room.dataDir }))!, database: names.database };
  const webhook = await api.call('POST', '/v1/webhooks', { body: { url: `${callback}/endpoint` } });
  if (webhook.status !== 200) throw new Error(`no endpoint: ${JSON.stringify(webhook.body)}`);
  const market = { api, token, callback, random: options.random, ledger: new Map() };
  return { ...options, room, running, api, market, superuser, checks: [] };
};

const rehearse = async (drill: Drill): Promise<void> => {
  const { market, superuser, payments: count, room } = drill;
  const payments = await makePayments(market, { word: erasedWord, keys: 'first', count });
  await makePayments(market, { word: keptWord, keys: 'second', count: Math.ceil(count / 10) });
  const client = new pg.Client(superuser);
  await client.connect();
  await untilEnded(client, timeoutMs);
  drill.tell(`${await resendCallbacks(drill.api, payments)} deliveries to callbacks are sent again`);
  await untilEnded(client, timeoutMs);
  // The planner keeps samples of each column.
  await client.query('analyze');
  await client.end();
  const before = await shownOf(drill.api, payments);
  const found = await searchTables(drill, erasedWord);
  drill.tell(`texts are in ${found.join(', ')}`);
  check(drill, 'texts are in payments, events, attempts, kept answers and samples', [
    ...['payments', 'events', 'delivery_attempts', 'idempotency_keys']
      .map(name => `public.${name}`)
      .concat('pg_stats')
      .filter(name => !found.some(each => each.startsWith(name))),
  ]);
  await erase(drill, payments);
  check(drill, 'no table has a text, nor a sample', await searchTables(drill, erasedWord));
  check(
    drill,
    'tables have the texts that are kept',
    missing(await searchTables(drill, keptWord), 'a text that is kept'),
  );
  await checkShown(drill, payments, before);
  await checkRecords(drill);
  const logs = [join(room.room, 'florin.log'), join(room.dataDir, 'postgres', 'server.log')];
  const texts = await Promise.all(logs.map(path => readFile(path, 'utf8')));
  check(
    drill,
    'no log has a text',
    logs.filter((_, at) => /Zwqx/.test(texts[at]!)),
  );
  check(drill, 'the log has requests', texts[0]!.includes('/v1/payments') ? [] : ['it has none']);
  await checkBackup(drill);
  check(drill, 'no file of the write-ahead log has a text once it was used again', await useLogAgain(drill));
};

/** Erases payments of a running Florin, and looks for their texts everywhere. */
export const runEraseDrill = async (options: DrillOptions): Promise<readonly Check[]> => {
  const room = await makeRoom('erase', depth);
  const env = {
    FLORIN_ROLES: 'api,watch,deliver',
    FLORIN_LOG_LEVEL: 'debug',
    FLORIN_LOG_FILE: join(room.room, 'florin.log'),
  };
  const echo = await startEcho();
  try {
    const running = await startIn({ ...room, surroundings: { ...room.surroundings, env } });
    let drill: Drill;
    try {
      drill = await prepare(options, room, running, echo.url);
      await rehearse(drill);
      drill.api.close();
    } finally {
      await stopFlorin(running.florin, room.dataDir);
    }
    await searchFiles(drill, room.dataDir, 'the data directory of the stopped Florin');
    return drill.checks;
  } finally {
    await echo.close();
    await removeRoom(room);
  }
};
