import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';
import type { Log } from '../../core/log.ts';
import { type Account, handOver, invokeAs } from './account.ts';
import type { PostgresBinaries } from './locatePostgres.ts';
import type { Passwords } from './passwords.ts';
import { type PostgresFiles, syncDirectory } from './postgresFiles.ts';
import { endProcessesOn } from './processes.ts';
import { runCommand } from './runCommand.ts';

export const names = { superuser: 'postgres', owner: 'florin_owner', service: 'florin_app', database: 'florin' };

type Context = {
  files: PostgresFiles;
  binaries: PostgresBinaries;
  account: Account;
  passwords: Passwords;
  log: Log;
};

export const hasCluster = async (files: PostgresFiles): Promise<boolean> =>
  access(files.cluster).then(
    () => true,
    () => false,
  );

/** Ends the processes of an interrupted first start and removes its files. */
export const clearUnfinished = async (files: PostgresFiles): Promise<void> => {
  await endProcessesOn(files.buildPrefix);
  const prefix = basename(files.buildPrefix);
  for (const entry of await readdir(files.directory)) {
    if (!entry.startsWith(prefix)) continue;
    await rm(join(files.directory, entry), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
};

/**
 * Builds the cluster in a temporary directory and renames it into place once it is complete, stopped and on disk. A
 * start that is killed leaves either no cluster or a whole one; processes of it that still run can only write to a
 * directory that is never renamed.
 */
export const createCluster = async (context: Context): Promise<void> => {
  const { files, account, log } = context;
  log.info({ directory: files.cluster }, 'creating the database');
  const build = await mkdtemp(files.buildPrefix);
  const data = join(build, 'data');
  const passwordFile = join(build, 'password');
  await mkdir(data, { mode: 0o700 });
  await writeFile(passwordFile, `${context.passwords.superuser}\n`, { mode: 0o600 });
  await handOver(build, account);
  await initialise(context, data, passwordFile);
  await bootstrap(context, data);
  await syncDirectory(data);
  await rename(data, files.cluster);
  await syncDirectory(files.directory);
  await rm(build, { recursive: true, force: true });
};

const initialise = async (context: Context, data: string, passwordFile: string): Promise<void> => {
  const args = [
    ...['-D', data, `--username=${names.superuser}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-instructions'],
  ];
  const { command, args: all, identity } = invokeAs(context.account, context.binaries.initdb, args);
  const options = { ...identity, env: context.binaries.environment, timeoutMs: 300_000 };
  const result = await runCommand(command, all, options);
  if (result.code !== 0) throw new Error(`The database could not be created. initdb said: ${result.stderr.trim()}`);
};

/** Creates roles and database in single-user mode, so that no server can outlive an interrupted start. */
const bootstrap = async (context: Context, data: string): Promise<void> => {
  const { owner, service, database } = names;
  const statements = [
    `CREATE ROLE ${owner} LOGIN PASSWORD '${context.passwords.owner}'`,
    `CREATE ROLE ${service} LOGIN PASSWORD '${context.passwords.service}'`,
    `CREATE DATABASE ${database} OWNER ${owner}`,
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
    `GRANT CONNECT ON DATABASE ${database} TO ${service}`,
  ];
  const quiet = ['-c', 'exit_on_error=true', '-c', 'log_min_error_statement=panic', '-c', 'log_checkpoints=off'];
  const args = ['--single', '-D', data, ...quiet, 'postgres'];
  const { command, args: all, identity } = invokeAs(context.account, context.binaries.postgres, args);
  const input = `${statements.join(';\n')};\n`;
  const options = { ...identity, env: context.binaries.environment, timeoutMs: 300_000, input };
  const result = await runCommand(command, all, options);
  if (result.code !== 0) throw new Error(`The database could not be prepared. postgres said: ${result.stderr.trim()}`);
};

/** Refuses a data directory of another major version without changing it. The message says what to do. */
export const refuseOtherVersion = async (files: PostgresFiles, majorVersion: string): Promise<void> => {
  let found: string;
  try {
    found = (await readFile(join(files.cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new Error(`${files.cluster} is not a PostgreSQL data directory. Restore it, or move it away to start empty.`);
  }
  if (found === majorVersion) return;
  throw new Error(
    `${files.cluster} was made by PostgreSQL ${found}; this Florin brings PostgreSQL ${majorVersion}. Nothing was changed. ` +
      `Dump the database with the Florin or the PostgreSQL ${found} it was made with and restore it into an empty data ` +
      `directory, or run a PostgreSQL ${found} server on it and set DATABASE_URL.`,
  );
};
