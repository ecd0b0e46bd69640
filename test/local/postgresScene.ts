import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import {
  type EmbeddedPostgres,
  type PostgresConnection,
  startPostgres,
} from '../../src/local/postgres/startPostgres.ts';
import { eventually } from '../support/until.ts';

export type Row = Record<string, unknown>;
export type Parent = { process: ChildProcess; pid: number; next(): Promise<Row>; exited: Promise<void> };

export const isRoot = process.geteuid?.() === 0;

export const query = async (connection: PostgresConnection, sql: string): Promise<Row[]> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
};

export const probe = async (connection: PostgresConnection) =>
  (await query(connection, 'SELECT 1 AS one')).length === 1;

export type LogLine = { level: string; fields: object; message: string };

export const recordingLog = (): { log: Log; lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { lines, log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') } };
};

/** Directories, servers and processes of one test, all of which it ends afterwards. */
export const postgresScene = () => {
  const directories: string[] = [];
  const servers: EmbeddedPostgres[] = [];
  const children: Parent[] = [];

  const makeDirectory = async (mode = 0o755): Promise<string> => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'florin-pg-')));
    await chmod(directory, mode);
    directories.push(directory);
    return directory;
  };

  const start = async (dataDir: string, log = recordingLog().log, settings: Record<string, string> = {}) => {
    const server = await startPostgres({ dataDir, log, probe, settings: { shared_buffers: '16MB', ...settings } });
    servers.push(server);
    return server;
  };

  const run = (fixture: string, dataDir: string): Parent => {
    const script = fileURLToPath(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
    const child = spawn(process.execPath, [script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const exited = new Promise<void>(resolve => child.on('exit', () => resolve()));
    const next = async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error('the process ended without an answer');
      return JSON.parse(value) as Row;
    };
    const parent = { process: child, pid: child.pid!, next, exited };
    children.push(parent);
    return parent;
  };

  const stopServers = async (): Promise<void> => {
    for (const server of servers.splice(0)) await server.stop();
  };

  const end = async (): Promise<void> => {
    for (const child of children.splice(0)) {
      child.process.kill('SIGKILL');
      await child.exited;
    }
    await stopServers();
    for (const directory of directories.splice(0)) {
      await killServers(directory);
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  };

  return { makeDirectory, start, run, stopServers, end };
};

/** Kills the servers on a directory, if any, and waits until they are gone. */
export const killServers = async (directory: string): Promise<void> => {
  for (const pid of await processesNaming(directory)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await eventually(async () => expect(await processesNaming(directory)).not.toContain(pid));
  }
};

export const processesNaming = async (path: string): Promise<number[]> => {
  const found: number[] = [];
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(`\0-D\0${path}`)) found.push(Number(entry));
  }
  return found;
};

export const postmasterPid = async (dataDir: string): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8'), 10);
