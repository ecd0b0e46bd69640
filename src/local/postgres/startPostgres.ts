import { realpath } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../core/errorCode.ts';
import type { Log } from '../../core/log.ts';
import { lockDataDirectory } from '../dataDirectoryLock.ts';
import { clearUnfinished, names } from './createCluster.ts';
import { adoptServer, launchServer, type ServerContext } from './launchServer.ts';
import { ensurePasswords, type Passwords, readPasswords } from './passwords.ts';
import { ensurePostgresDirectory, postgresFiles } from './postgresFiles.ts';
import { endPostmaster, type Postmaster } from './postmaster.ts';
import { readPostmasterFile } from './postmasterFile.ts';
import { boundServerLog } from './serverLog.ts';
import { serverArguments } from './serverSettings.ts';
import { ensureSocketDirectory, findSocketDirectory, port } from './socketDirectory.ts';

export type PostgresConnection = {
  /** The directory of the unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
};

export type EmbeddedPostgres = {
  /** Owns the database and runs migrations. Not a superuser. */
  owner: PostgresConnection;
  /** May log in and owns nothing. */
  service: PostgresConnection;
  /** Whether a running server was taken over from a killed parent. */
  adopted: boolean;
  /** Stops the server cleanly and quickly. May be called again. */
  stop(): Promise<void>;
};

/** Whether a server answers a query on this connection. */
export type Probe = (connection: PostgresConnection) => Promise<boolean>;

export type StartOptions = { dataDir: string; log: Log; probe: Probe; settings?: Record<string, string> };

const firstDelayMs = 100;
const longestDelayMs = 10_000;
const steadyAfterMs = 60_000;
const logCheckMs = 30_000;

/** Starts the embedded server on the data directory, and restarts it when it dies, until stopped. */
export const startPostgres = async (options: StartOptions): Promise<EmbeddedPostgres> => {
  const files = await ensurePostgresDirectory(options.dataDir);
  const lock = lockDataDirectory({ dataDir: files.directory });
  try {
    await clearUnfinished(files);
    const passwords = await ensurePasswords(files);
    const socketDirectory = await ensureSocketDirectory(files);
    const { owner, service } = connections(socketDirectory, passwords);
    const stopping = new AbortController();
    const context: ServerContext = {
      files,
      passwords,
      socketDirectory,
      serverArguments: serverArguments(socketDirectory, options.settings ?? {}),
      log: options.log,
      signal: stopping.signal,
      probe: () => options.probe(owner),
    };
    const adoptee = await adoptServer(context);
    const first = adoptee ?? (await launchServer(context, true));
    const supervision = supervise(first, context);
    let stopped: Promise<void> | undefined;
    const stop = async () => {
      stopping.abort();
      await supervision.finally(lock.release);
    };
    return {
      owner,
      service,
      adopted: adoptee !== null,
      stop() {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/** Connections to the running server of a data directory, for commands; null when none is recorded as running. */
export const findPostgres = async (options: {
  dataDir: string;
}): Promise<{ owner: PostgresConnection; service: PostgresConnection } | null> => {
  const found = await readConnections(options.dataDir);
  return found === null ? null : { owner: found.owner, service: found.service };
};

/** For tests and repairs only: the service itself never has these rights. */
export const findSuperuser = async (options: { dataDir: string }): Promise<PostgresConnection | null> =>
  (await readConnections(options.dataDir))?.superuser ?? null;

const readConnections = async (dataDir: string): Promise<ReturnType<typeof connections> | null> => {
  const directory = await realpath(dataDir).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  });
  if (directory === null) return null;
  const files = postgresFiles(directory);
  if ((await readPostmasterFile(files.cluster)) === null) return null;
  const passwords = await readPasswords(files);
  const host = await findSocketDirectory(files);
  return passwords === null || host === null ? null : connections(host, passwords);
};

const connections = (host: string, passwords: Passwords) => {
  const connect = (user: string, password: string, database = names.database): PostgresConnection => ({
    host,
    port,
    database,
    user,
    password,
  });
  return {
    owner: connect(names.owner, passwords.owner),
    service: connect(names.service, passwords.service),
    superuser: connect(names.superuser, passwords.superuser, 'postgres'),
  };
};

/** Restarts the server whenever it ends by itself. Ends it when the signal is aborted. */
const supervise = async (first: Postmaster, context: ServerContext): Promise<void> => {
  const { files, log, signal } = context;
  const logCheck = setInterval(() => {
    boundServerLog(files.serverLog).catch(error =>
      log.warn({ err: error }, 'the PostgreSQL log could not be truncated'),
    );
  }, logCheckMs).unref();
  const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  let current: Postmaster | null = first;
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    const since: number = performance.now();
    if (current !== null) {
      await Promise.race([current.exited, stopped]);
      if (signal.aborted) break;
      log.error({ pid: current.pid }, 'PostgreSQL ended unexpectedly');
      if (performance.now() - since > steadyAfterMs) delayMs = firstDelayMs;
    }
    await pause(delayMs, undefined, { signal, ref: false }).catch(() => {});
    delayMs = Math.min(delayMs * 2, longestDelayMs);
    current = signal.aborted ? null : await relaunch(context, delayMs);
  }
  clearInterval(logCheck);
  if (current !== null) await endPostmaster(current, files.cluster, log);
};

/** A disk may be full for hours, so a failure is only logged and the next attempt follows after a bounded delay. */
const relaunch = async (context: ServerContext, nextAttemptMs: number): Promise<Postmaster | null> => {
  try {
    const postmaster = await launchServer(context, false);
    context.log.info({ pid: postmaster.pid }, 'PostgreSQL was started again');
    return postmaster;
  } catch (error) {
    if (!context.signal.aborted)
      context.log.error({ err: error, nextAttemptMs }, 'PostgreSQL could not be started again');
    return null;
  }
};
