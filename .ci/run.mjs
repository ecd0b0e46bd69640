// Plain JavaScript for the machine's own Node (20 or newer): this is what installs the newer one.
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processesBelow } from '../test/support/processesBelow.mjs';
import { installWarnings } from './installWarnings.mjs';
import { lockfileProblems, missingBinaries } from './lockfile.mjs';
import { startPostgres } from './postgres.mjs';
import { aptInstall, aptUnpack, makeRoom, run, start } from './processes.mjs';
import { trySmallInstall } from './smoke.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const counts = { passed: 0, failed: 0 };
const failures = [];
const startedMs = performance.now();

const say = text => console.log(`\n=== ${text} (${Math.round((performance.now() - startedMs) / 1000)} s)`);

const count = (name, problems) => {
  if (problems.length === 0) {
    counts.passed += 1;
    return;
  }
  counts.failed += 1;
  failures.push(name);
  console.log(`FAILED: ${name}\n${problems.map(each => `  ${each}`).join('\n')}`);
};

/** A check is a function that answers its problems; one that throws has failed. */
const check = async (name, work) => {
  say(name);
  try {
    count(name, (await work()) ?? []);
  } catch (error) {
    count(name, [String(error?.stack ?? error)]);
  }
};

const command = async (args, options) => {
  const { code, signal } = await run('npx', ['--no-install', ...args], options);
  return code === 0 ? [] : [`${args.join(' ')} ended with ${signal ?? code}`];
};

const ensureBrowser = async options => {
  const find = () => run('npx', ['--no-install', 'node', 'test/support/findBrowser.ts'], options);
  // Without windows, pages take a quarter of the processor's time. Where there is no such package, any browser will do.
  const shell = 'chromium-headless-shell';
  if (!process.env.PATH.split(':').some(folder => existsSync(join(folder, shell)))) {
    await aptInstall(shell, options.room, `${shell} would be faster`).catch(error => console.log(error.message));
  }
  if ((await find()).code === 0) return;
  await aptInstall('chromium', options.room, 'Chromium is needed. On Debian: apt-get install chromium');
  if ((await find()).code !== 0) throw new Error('Chromium was installed and cannot be found.');
};

/** The folder of promtool; null if it is on the PATH. */
const ensurePromtool = async options => {
  const find = () => run('npx', ['--no-install', 'node', 'test/support/findPrometheus.ts'], options);
  if ((await find()).code === 0) return null;
  const unpacked = await aptUnpack(
    'prometheus',
    options.room,
    'promtool is needed. On Debian: apt-get install prometheus',
  );
  return join(unpacked, 'usr', 'bin');
};

/** The folders of nginx and Caddy; null if they are installed. */
const ensureProxies = async options => {
  const find = () => run('npx', ['--no-install', 'node', 'test/support/findProxy.ts'], options);
  if ((await find()).code === 0) return null;
  const missing = 'nginx and Caddy are needed. On Debian: apt-get install nginx caddy';
  const nginx = await aptUnpack('nginx', options.room, missing);
  const caddy = await aptUnpack('caddy', options.room, missing);
  return [join(nginx, 'usr', 'sbin'), join(caddy, 'usr', 'bin')].join(':');
};

/** The program of Redis; null if it is installed. Debian's tools are the same program, and start no server when installed. */
const ensureRedis = async options => {
  const find = () => run('npx', ['--no-install', 'node', 'test/support/findRedis.ts'], options);
  if ((await find()).code === 0) return null;
  await aptInstall('redis-tools', options.room, 'Redis is needed. On Debian: apt-get install redis-server');
  const program = join(options.room, 'redis-server');
  symlinkSync('/usr/bin/redis-check-rdb', program);
  return program;
};

/** The program of PgBouncer; null if it is installed. Its libraries are installed, and it is not: it would start a server. */
const ensurePgbouncer = async options => {
  const find = () => run('npx', ['--no-install', 'node', 'test/support/findPgbouncer.ts'], options);
  if ((await find()).code === 0) return null;
  const missing = 'PgBouncer is needed. On Debian: apt-get install pgbouncer';
  for (const library of ['libevent-2.1-7', 'libc-ares2']) await aptInstall(library, options.room, missing);
  return join(await aptUnpack('pgbouncer', options.room, missing), 'usr', 'sbin', 'pgbouncer');
};

/** Adds up what vitest reports. A file that could not be run at all counts as one failure. */
const vitest = async (name, script, args, options) => {
  say(name);
  const report = join(options.room, `${name.replaceAll(/\W+/g, '-')}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code, signal } = await run('npm', ['run', script, '--', ...args, ...reporters], options);
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    count(name, [`npm run ${script} ended with ${signal ?? code} and left no report`]);
    return;
  }
  const broken = result.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(each => each.status === 'failed'),
  );
  const failed = result.numFailedTests + broken.length;
  counts.passed += result.numPassedTests;
  counts.failed += failed;
  if (failed > 0) failures.push(`${name}: ${failed}`);
  else if (!options.maySkip && result.numPendingTests > 0)
    count(name, [`${result.numPendingTests} tests were skipped`]);
  // Errors outside of any test end the run with a code of its own.
  else if (code !== 0) count(name, [`npm run ${script} ended with ${signal ?? code}`]);
};

const dumpTest = 'test/engine/restoredDump.test.ts';
const standbyTest = 'test/deploy/standby.test.ts';

const databases = new Set(['florin', 'databases'].map(name => join(root, 'test', 'support', `${name}.ts`)));

/** Whether a file of the tests imports a database, itself or through others of them. */
const needsDatabase = (file, seen = new Set()) => {
  if (databases.has(file)) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(/ from '(\.[^']+\.ts)'/g)].map(([, path]) => resolve(dirname(file), path));
  // A test may contain the text of a program, which imports files that exist only where it is compiled.
  const existing = imported.filter(path => path.startsWith(join(root, 'test')) && existsSync(path));
  return existing.some(path => needsDatabase(path, seen));
};

/**
 * They send no statement that others do not send, and take long for what they are about: chains that stand still, receivers
 * that do not answer, processes that are killed.
 */
const saidByOthers = new Set(
  [
    'api/checkoutSimulate',
    'api/paymentsFactory',
    'api/simulate',
    'cli/chainVerify',
    'cli/factory',
    'cli/listen',
    'cli/pay',
    'cli/recovery',
    'cli/recoverySweep',
    'dashboard/ledger',
    'dashboard/sweepStrays',
    'deliveries/isolation',
    'deliveries/retries',
    'deliveries/severalDeliverers',
    'deliveries/survival',
    'engine/restoredDirectory',
    'harness/runs',
    'watch/contractCoin',
    'watch/dust',
    'watch/expiry',
    'watch/heartbeat',
    'watch/notCounted',
    'watch/oddTokens',
    'watch/outcomes',
    'watch/ownTokens',
    'watch/readTokens',
    'watch/reorgs',
    'watch/strays',
    'watch/survival',
    'watch/twoLocalChains',
    'workers/unknownFormat',
    'workers/watcherStop',
  ].map(name => `${name}.test.ts`),
);

/** Test files that need a database, found by what they import. What a browser shows is the same whichever it is. */
const databaseTests = () =>
  readdirSync(join(root, 'test'), { recursive: true })
    .filter(path => path.endsWith('.test.ts') && !path.startsWith('browser/') && !saidByOthers.has(path))
    .filter(path => needsDatabase(join(root, 'test', path)))
    .map(path => `test/${path}`)
    .sort();

const main = async room => {
  const options = { cwd: root, room };
  say('npm ci');
  const installing = start('npm', ['ci'], options);
  const { code, signal } = await installing.exited;
  console.log(installing.output());
  count('npm ci', code === 0 ? installWarnings(installing.output()) : [`npm ci ended with ${signal ?? code}`]);
  if (code !== 0) return;

  await check('a browser', () => ensureBrowser(options));
  let promtool = null;
  await check('promtool', async () => {
    promtool = await ensurePromtool(options);
  });
  let proxies = null;
  await check('nginx and Caddy', async () => {
    proxies = await ensureProxies(options);
  });
  let redis = null;
  await check('Redis', async () => {
    redis = await ensureRedis(options);
  });
  let pgbouncer = null;
  await check('PgBouncer', async () => {
    pgbouncer = await ensurePgbouncer(options);
  });
  // The embedded server has neither pg_dump nor pg_basebackup. The second database does.
  await vitest('all tests, on the embedded PostgreSQL', 'test:all', ['--exclude', dumpTest, '--exclude', standbyTest], {
    ...options,
    env: {
      ...(promtool === null ? {} : { PROMETHEUS_PATH: promtool }),
      ...(proxies === null ? {} : { PROXIES_PATH: proxies }),
      ...(redis === null ? {} : { REDIS_SERVER_PATH: redis }),
      ...(pgbouncer === null ? {} : { PGBOUNCER_PATH: pgbouncer }),
    },
  });
  await check('types', async () => {
    const { code, signal } = await run('npm', ['run', 'typecheck'], options);
    return code === 0 ? [] : [`npm run typecheck ended with ${signal ?? code}`];
  });
  await check('format and lint', () => command(['biome', 'ci', '--colors=off', '.'], options));

  let postgres;
  await check('a PostgreSQL of the system', async () => {
    postgres = await startPostgres(room);
  });
  if (postgres) {
    try {
      const env = { TEST_DATABASE_URL: postgres.url, PATH: `${postgres.bin}:${process.env.PATH}` };
      const name = `the tests that use a database, on PostgreSQL ${postgres.version}`;
      // Some are about the embedded server. What takes long and repeats what others show has run on it.
      await vitest(name, 'test', databaseTests(), { ...options, env, maySkip: true });
      await vitest('a dump that is restored', 'test:all', [dumpTest], { ...options, env });
      await vitest('a standby in containers', 'test:all', [standbyTest], { ...options, env: { PATH: env.PATH } });
    } finally {
      await postgres.stop();
    }
  }

  await check('the lockfile serves every platform and names no addresses', () => lockfileProblems(root));
  await check('the binaries of this platform are installed', () => missingBinaries(root));
  await check('a small install starts and takes a payment', () => trySmallInstall(root, room));
  await check('no process is left over', () => processesBelow(room).map(({ pid, command }) => `${pid} ${command}`));
};

/** Outside of CI the checkout may hold changes and a node_modules in use, so a clone is tested instead. */
const cloneAndRun = async () => {
  const folder = makeRoom('florin-clone');
  try {
    const cloned = await run('git', ['clone', '--quiet', root, join(folder, 'florin')], { cwd: root, room: folder });
    if (cloned.code !== 0) throw new Error('git clone failed');
    const { code } = await run('bash', ['.ci/run'], { cwd: join(folder, 'florin'), room: folder, env: { CI: 'true' } });
    process.exitCode = code ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

if (process.env.CI) {
  const room = makeRoom('florin-ci');
  try {
    await main(room);
  } catch (error) {
    count('the run itself', [String(error?.stack ?? error)]);
  } finally {
    rmSync(room, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  say('done');
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map(name => `  ${name}`).join('\n')}`);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
} else {
  await cloneAndRun();
}
