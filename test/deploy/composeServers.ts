import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../../src/core/log.ts';
import { chooseAccount, handOver, invokeAs } from '../../src/local/postgres/account.ts';
import { ensurePostgresDirectory } from '../../src/local/postgres/postgresFiles.ts';
import { runCommand } from '../../src/local/postgres/runCommand.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { findPostgresql } from '../support/findPostgresql.ts';
import { freePort } from '../support/freePort.ts';
import { read, root } from './deployedFile.ts';

export type ServerName = 'db1' | 'db2';

export type ComposeServer = {
  /** Where its data is, as in its volume. */
  readonly data: string;
  /** Starts the container's entry, which ends with the test file or when it is told to. */
  start(primary: ServerName): void;
  /** What the entry said before it ended by itself. */
  refusal(primary: ServerName): Promise<{ code: number | null; stderr: string }>;
  stop(): Promise<void>;
  ask<T>(sql: string): Promise<T>;
};

export type ComposeServers = Readonly<Record<ServerName, ComposeServer>> & {
  /** Makes the first server as its image does: initdb, then the scripts on a server that only its socket leads to. */
  create(name: ServerName): Promise<void>;
  /** A file of the secrets. */
  readonly secrets: string;
};

const timeoutMs = 60_000;

/** A room whose files belong to an account that may run servers, with the programs and the scripts of the containers. */
const openRoom = async () => {
  const room = await realpath(await mkdtemp(join(tmpdir(), 'florin-compose-')));
  atEndOfFile(() => rm(room, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(room, 0o711);
  const files = await ensurePostgresDirectory(room);
  const folder = findPostgresql()!;
  const environment = { PATH: [folder, join(room, 'bin'), '/usr/bin', '/bin'].join(delimiter), LC_ALL: 'C', TZ: 'UTC' };
  const binaries = { root: folder, initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), environment };
  const { account } = await chooseAccount(files, binaries, silentLog);
  await mkdir(join(room, 'bin'), { mode: 0o755 });
  // The image's own, for a server that has data: it starts what it is given.
  await writeFile(join(room, 'bin', 'docker-entrypoint.sh'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  const { directory } = files;
  const secrets = join(directory, 'secrets');
  const written = await runCommand('sh', [join(root, 'deploy/compose.secrets.sh'), '--cluster', secrets], {
    env: environment,
    timeoutMs,
  });
  if (written.code !== 0) throw new Error(written.stderr);
  const entry = join(directory, 'entry.sh');
  await copyFile(join(root, 'deploy/compose.standby.sh'), entry);
  await mkdir(join(directory, 'db1'));
  await mkdir(join(directory, 'db2'));
  await handOver(directory, account);
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { command, args: all, identity } = invokeAs(account, args[0]!, args.slice(1));
    return runCommand(command, all, { ...identity, env: { ...environment, ...env }, timeoutMs });
  };
  return { directory, secrets, entry, environment, account, run };
};

type Room = Awaited<ReturnType<typeof openRoom>>;
type Place = { readonly name: ServerName; readonly port: number; readonly otherPort: number };

const openServer = (room: Room, { name, port, otherPort }: Place): ComposeServer => {
  const own = join(room.directory, name);
  const data = join(own, 'data');
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: own, shared_buffers: '16MB' };
  const server = ['postgres', ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
  let child: ChildProcess | null = null;
  const stop = async (): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGINT');
    await gone;
  };
  atEndOfFile(stop);
  const env = (primary: ServerName) => ({
    PGDATA: data,
    // In the network of Compose, both servers have the same port, and names of their own.
    PGPORT: String(otherPort),
    OTHER: '127.0.0.1',
    SERVER: name,
    PRIMARY: primary,
    REPLICATION_PASSWORD_FILE: join(room.secrets, 'database_replication'),
  });
  return {
    data,
    stop,
    start(primary) {
      const { command, args, identity } = invokeAs(room.account, 'sh', [room.entry, ...server]);
      const given = { ...room.environment, ...env(primary) };
      child = spawn(command, args, { ...identity, cwd: '/', env: given, stdio: 'ignore' });
    },
    refusal: primary => room.run(['sh', room.entry, ...server], env(primary)),
    async ask<T>(sql: string): Promise<T> {
      const client = new pg.Client({ host: own, port, user: 'postgres', database: 'postgres' });
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

const createFirst = async (room: Room, { data }: ComposeServer, { name, port }: Place): Promise<void> => {
  const own = join(room.directory, name);
  const succeed = async (args: readonly string[]): Promise<void> => {
    const { code, stderr } = await room.run(args, { PGDATA: data, PGHOST: own, PGPORT: String(port) });
    if (code !== 0) throw new Error(`${args[0]} failed: ${stderr}`);
  };
  await succeed(['initdb', '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']);
  // What the image has for other machines. Here every machine is this one.
  await writeFile(join(data, 'pg_hba.conf'), 'local all all trust\n');
  await appendFile(join(data, 'pg_hba.conf'), 'host all all all scram-sha-256\n');
  const settings = `-c listen_addresses= -c unix_socket_directories=${own} -c port=${port} -c cluster_name=${name}`;
  await succeed(['pg_ctl', '-w', '-l', join(own, 'log'), '-o', settings, 'start']);
  for (const script of ['roles', 'replication']) {
    const text = read(`deploy/compose.${script}.sh`).replaceAll('/run/secrets', room.secrets);
    await succeed(['sh', '-c', text]);
  }
  await succeed(['pg_ctl', '-w', '-m', 'fast', 'stop']);
};

/** Both servers of compose.cluster.yaml on loopback, with the scripts of their containers. They end with the test file. */
export const openComposeServers = async (): Promise<ComposeServers> => {
  const room = await openRoom();
  const [first, second] = [await freePort(), await freePort()];
  const places = {
    db1: { name: 'db1', port: first, otherPort: second },
    db2: { name: 'db2', port: second, otherPort: first },
  } as const;
  const servers = { db1: openServer(room, places.db1), db2: openServer(room, places.db2) };
  return { ...servers, create: name => createFirst(room, servers[name], places[name]), secrets: room.secrets };
};
