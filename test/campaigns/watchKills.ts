import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { silentLog } from '../../src/core/log.ts';
import { sendSignal } from '../../src/local/postgres/processes.ts';
import { type EmbeddedPostgres, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { createRandom } from './fuzz/random.ts';
import { checkAtEnd } from './sim/checkAtEnd.ts';
import type { Check } from './sim/checkChain.ts';
import { createChecker } from './sim/checker.ts';
import { createCustomers } from './sim/customers.ts';
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
import { createWorld, localChainId } from './sim/world.ts';
import {
  check,
  checkEvery,
  checkNow,
  killAtEveryStep,
  killSomewhere,
  readTimeoutMs,
  type Scene,
  underLoad,
} from './watchKills/kills.ts';
import { type DatabaseProxy, startProxy } from './watchKills/proxy.ts';

const help = `Kills a Florin with SIGKILL while payments are paid and the chain is reorganised: at every statement of the
transaction in which the watcher applies blocks, before and after it, and at random moments. Nothing may be lost or doubled.

  --kills N    at random moments, default 200
  --seed N     default 1
  --help`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [kills, seed] = [Number(values.kills), Number(values.seed)];

const depth = 2;
const warmUpMs = 5_000;

const run = async (scene: Scene): Promise<Check[]> => {
  await underLoad(scene, pause(warmUpMs));
  await checkNow(scene, 'before the first kill');
  const steps = await killAtEveryStep(scene);
  await checkNow(scene, 'after all steps');
  for (let round = 0; round < kills; round++) {
    await killSomewhere(scene);
    if (round % checkEvery !== checkEvery - 1) continue;
    await checkNow(scene, `random kill ${round + 1}`);
    console.log(`${round + 1} random kills, ${scene.customers.payments.size} payments, ${scene.faults.length} faults`);
  }
  const { rpc } = scene.running;
  await scene.world.bury(rpc, depth + 8);
  await scene.tables.untilRead(() => scene.world.headHash(rpc), readTimeoutMs);
  const last = await checkAtEnd(scene.customers.payments.size, async () => {
    await scene.tables.untilDecided(readTimeoutMs);
    return check(scene, true);
  });
  return [...last, { what: `${scene.checks} checks on the way found nothing`, problems: scene.faults }, steps];
};

const prepare = async (
  room: Room,
  running: Running,
  proxy: DatabaseProxy,
  database: EmbeddedPostgres,
): Promise<Scene> => {
  const key = await enrol(room);
  const random = createRandom(`watch kills ${seed}`);
  const world = createWorld(`watch kills ${seed}`, random);
  const api = openApi(running, key);
  const assets = await readAssets(api);
  api.close();
  await world.join(running.rpc, true);
  const checker = createChecker({
    caip2: `eip155:${localChainId}`,
    depth,
    mayReverse: true,
    needsProof: false,
    chain: world.memory,
    listed: new Set(assets.flatMap(({ contract }) => contract ?? [])),
    ledger: world.ledger,
  });
  const tables = await openTables(database.owner);
  const customers = createCustomers(assets, random, await openOrigins(room, database.owner));
  const tally = { rounds: 0, reorgs: 0 };
  const counts = { tally, faults: [], killed: new Map(), checks: 0 };
  return { room, proxy, tables, world, random, running, key, customers, checker, ...counts };
};

const urlOf = ({ user, password, database }: EmbeddedPostgres['owner'], place: string): string =>
  `postgres://${user}:${encodeURIComponent(password)}@${place}/${database}`;

/** A server of our own, reached by Florin through the proxy. */
const startDatabase = (dataDir: string): Promise<EmbeddedPostgres> =>
  startPostgres({
    dataDir,
    log: silentLog,
    async probe(connection) {
      const client = new pg.Client(connection);
      client.on('error', () => {});
      try {
        await client.connect();
        await client.query('select 1');
        return true;
      } catch {
        return false;
      } finally {
        await client.end().catch(() => {});
      }
    },
  });

const report = (scene: Scene, checks: readonly Check[], startedMs: number): number => {
  for (const { what, problems } of checks) {
    console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
    for (const problem of problems.slice(0, 12)) console.log(`    ${problem}`);
  }
  const shown = [...scene.killed].map(([what, times]) => `${what} ${times}`).join(', ');
  console.log(`kills: ${shown}; ${scene.customers.payments.size} payments, ${scene.tally.reorgs} reorgs`);
  console.log(`seed ${seed}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
};

const main = async (): Promise<number> => {
  if (values.help) {
    console.log(help);
    return 0;
  }
  const startedMs = performance.now();
  const databaseRoom = await makeRoom('watch-kills-database', depth);
  const database = await startDatabase(databaseRoom.dataDir);
  const { host, port } = database.owner;
  const proxy = await startProxy(join(host, `.s.PGSQL.${port}`));
  const room = await makeRoom('watch-kills', depth, {
    DATABASE_URL: urlOf(database.service, `127.0.0.1:${proxy.port}`),
    FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner, `${encodeURIComponent(host)}:${port}`),
  });
  let running: Running | null = null;
  let scene: Scene | null = null;
  try {
    running = await startIn(room);
    scene = await prepare(room, running, proxy, database);
    return report(scene, await run(scene), startedMs);
  } finally {
    const last = scene?.running ?? running;
    if (last) sendSignal(last.florin.pid, 'SIGKILL');
    await scene?.tables.close();
    await proxy.stop();
    await database.stop();
    await removeRoom(room);
    await removeRoom(databaseRoom);
  }
};

process.exitCode = await main();
