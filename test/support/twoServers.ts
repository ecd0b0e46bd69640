import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../../src/core/log.ts';
import { type Account, chooseAccount, handOver, invokeAs } from '../../src/local/postgres/account.ts';
import { locatePostgres, type PostgresBinaries } from '../../src/local/postgres/locatePostgres.ts';
import { ensurePostgresDirectory } from '../../src/local/postgres/postgresFiles.ts';
import { waitUntilReady } from '../../src/local/postgres/postmaster.ts';
import { runCommand } from '../../src/local/postgres/runCommand.ts';
import { atEndOfFile } from './endOfFile.ts';
import { freePort } from './freePort.ts';

export type Server = {
  readonly port: number;
  start(settings?: Record<string, string>): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** It keeps its connections, and answers nothing. */
  pause(): void;
  resume(): void;
  ask<T>(sql: string): Promise<T>;
};

export type TwoServers = {
  readonly primary: Server;
  /** A streaming replica of the first. Its name for `synchronous_standby_names` is `standby`. */
  readonly standby: Server;
  /** Of the servers in this order, as DATABASE_URL. */
  url(...servers: readonly Server[]): string;
};

type Installed = { readonly binaries: PostgresBinaries; readonly account: Account };

/** The names are those of the embedded server's tests: everybody on loopback may enter. */
const [user, database] = ['postgres', 'postgres'];
const readyTimeoutMs = 60_000;

const createServer = async ({ binaries, account }: Installed, cluster: string, fixed: string[]): Promise<Server> => {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGCONT');
    ending.kill('SIGQUIT');
    await gone;
  };
  atEndOfFile(kill);
  return {
    port,
    async start(settings = {}) {
      const set = { port: String(port), ...settings };
      const all = [...fixed, ...Object.entries(set).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
      const { command, args, identity } = invokeAs(account, binaries.postgres, ['-D', cluster, ...all]);
      const started = spawn(command, args, { ...identity, cwd: '/', env: binaries.environment, stdio: 'ignore' });
      child = started;
      await once(started, 'spawn');
      const exited = once(started, 'exit').then(() => {});
      const patience = { timeoutMs: readyTimeoutMs, signal: new AbortController().signal };
      const isReady = await waitUntilReady({ pid: started.pid!, exited }, cluster, patience);
      if (!isReady) throw new Error(`the server on ${cluster} does not start`);
    },
    kill,
    pause: () => void child!.kill('SIGSTOP'),
    resume: () => void child!.kill('SIGCONT'),
    async ask<T>(sql: string): Promise<T> {
      const client = new pg.Client({ host: '127.0.0.1', port, user, database, connectionTimeoutMillis: 10_000 });
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query(sql)).rows[0];
      } finally {
        await client.end();
      }
    },
  };
};

/** Two real servers on loopback, of which the second follows the first. They end with the test file at the latest. */
export const startTwoServers = async (settings: Record<string, string> = {}): Promise<TwoServers> => {
  const room = await realpath(await mkdtemp(join(tmpdir(), 'florin-servers-')));
  atEndOfFile(() => rm(room, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(room, 0o711);
  const files = await ensurePostgresDirectory(room);
  const binaries = await locatePostgres({ linkDir: files.links });
  const { account } = await chooseAccount(files, binaries, silentLog);
  await handOver(files.directory, account);
  const [first, second] = [join(files.directory, 'first'), join(files.directory, 'second')];
  const initdb = ['-D', first, `--username=${user}`, '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  const { command, args, identity } = invokeAs(account, binaries.initdb, initdb);
  const options = { ...identity, env: binaries.environment, timeoutMs: readyTimeoutMs };
  const { code, stderr } = await runCommand(command, args, options);
  if (code !== 0) throw new Error(`initdb failed: ${stderr}`);
  // A cluster that has never run is a base backup of itself.
  await cp(first, second, { recursive: true, preserveTimestamps: true });
  await writeFile(join(second, 'standby.signal'), '');
  await handOver(second, account);

  const common = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '32MB',
    wal_keep_size: '256MB',
    timezone: 'UTC',
  };
  const fixed = (more: Record<string, string>): string[] =>
    Object.entries({ ...common, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const installed = { binaries, account };
  const primary = await createServer(installed, first, fixed({}));
  const conninfo = `host=127.0.0.1 port=${primary.port} user=${user} application_name=standby`;
  const standby = await createServer(installed, second, fixed({ primary_conninfo: conninfo }));
  await primary.start(settings);
  await standby.start();
  return {
    primary,
    standby,
    url: (...servers) => `postgres://${user}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`,
  };
};
