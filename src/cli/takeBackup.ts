import { createWriteStream } from 'node:fs';
import { open, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { writeArchive } from '../local/backup/archive.ts';
import { backupItems } from '../local/backup/backupItems.ts';
import { addDigest, compress } from '../local/backup/compression.ts';
import { ensureInstanceId } from '../local/instanceId.ts';
import { names } from '../local/postgres/createCluster.ts';
import { keepOwner, syncDirectory } from '../local/postgres/postgresFiles.ts';
import { findSuperuser, type PostgresConnection } from '../local/postgres/startPostgres.ts';
import { type BaseBackup, startBaseBackup } from '../storage/baseBackup.ts';
import { type AgeLock, encryptAge } from '../vault/ageFile.ts';
import { masterKeyPath, parseMasterKey } from '../vault/masterKey.ts';
import type { Config } from './config.ts';

export type BackupOrder = {
  readonly config: Config;
  /** The version of Florin. */
  readonly version: string;
  /** A directory; null is the standard output. */
  readonly directory: string | null;
  /** Null: not encrypted. */
  readonly lock: AgeLock | null;
  readonly withMasterKey: boolean;
  /** Whether the schedule asked for it. Such files are removed after a time. */
  readonly isScheduled: boolean;
  readonly signal: AbortSignal;
  readonly onBytes: (done: number, of: number) => void;
};

export type BackupTaken = { readonly file: string | null; readonly backupAt: string; readonly bytes: number };

/** Begins the names of the files that the schedule of this data directory makes. */
export const scheduledPrefix = (instance: string): string => `florin-auto-${instance.slice(0, 8)}-`;

const findServer = async ({ dataDir, database }: Config): Promise<PostgresConnection> => {
  if (database !== null) {
    throw new FlorinError(
      'conflict',
      'The database of DATABASE_URL is your own server, and florin backup copies only the embedded one. Use the means of your server: pg_dump, pg_basebackup or WAL archiving. See "Your own server" in docs/backups.md.',
    );
  }
  const superuser = await findSuperuser({ dataDir }).catch(error => {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    const who = 'belongs to another user. Run this command as the user that runs Florin.';
    throw new FlorinError('permission_denied', `${dataDir} ${who}`);
  });
  if (superuser !== null) return { ...superuser, database: names.database };
  throw new FlorinError(
    'service_unavailable',
    `Florin is not running in ${dataDir}. Start it with npm start, or give its directory with --data-dir.`,
  );
};

/** The text of the key, which must be that of the database. */
const readMasterKey = async ({ dataDir, masterKey }: Config, fingerprint: string | null): Promise<string> => {
  const text = masterKey ?? (await readFile(masterKeyPath(dataDir), 'utf8'));
  if (fingerprint === null || parseMasterKey(text).fingerprint === fingerprint) return `${text.trim()}\n`;
  throw new FlorinError('conflict', 'The master key does not match the database, so it is not backed up.');
};

const checkEveryMs = 5_000;
const longestStallMs = 600_000;
const leastFreeBytes = 256 * 1024 * 1024;

/**
 * While a backup runs, the server keeps all of its log. So a reader that takes nothing, or a disk that fills, ends the
 * backup before the log can fill the disk of the database.
 */
const watchOver = (dataDir: string, written: () => number, giveUp: (why: FlorinError) => void): (() => void) => {
  let [seen, seenMs] = [-1, 0];
  const check = async (): Promise<void> => {
    if (written() !== seen) [seen, seenMs] = [written(), performance.now()];
    else if (performance.now() - seenMs > longestStallMs) {
      giveUp(new FlorinError('conflict', 'Nothing could be written for ten minutes. The backup was given up.'));
    }
    const { bavail, blocks, bsize } = await statfs(dataDir);
    if (bavail * bsize >= Math.min(leastFreeBytes, (blocks * bsize) / 20)) return;
    giveUp(new FlorinError('conflict', `The disk of ${dataDir} is nearly full. The backup was given up.`));
  };
  const timer = setInterval(() => void check().catch(giveUp), checkEveryMs);
  return () => clearInterval(timer);
};

/** What is in flight until it is whole, on disk and has its name. */
const openTarget = async (directory: string, name: string) => {
  const partial = join(directory, `.${name}.partial`);
  const file = join(directory, name);
  const handle = await open(partial, 'wx', 0o600).catch(error => {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) throw error;
    throw new FlorinError('conflict', `The directory ${directory} cannot be written to (${codeOf(error)}).`);
  });
  return {
    stream: createWriteStream('', { fd: handle.fd, autoClose: false }),
    async finish(): Promise<string> {
      await handle.sync();
      await handle.close();
      await keepOwner(partial);
      await rename(partial, file);
      await syncDirectory(dirname(file));
      return file;
    },
    async discard(): Promise<void> {
      await handle.close().catch(() => undefined);
      await rm(partial, { force: true });
    },
  };
};

const nameOf = (instance: string, startedAt: Date, { lock, isScheduled }: BackupOrder): string => {
  const time = startedAt.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const prefix = isScheduled ? scheduledPrefix(instance) : `florin-${instance.slice(0, 8)}-`;
  return `${prefix}${time}.tar.zst${lock === null ? '' : '.age'}`;
};

const explained = (error: unknown, { directory }: BackupOrder): unknown => {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) {
    return new FlorinError('conflict', `The disk of ${directory ?? 'the output'} is full. Nothing was kept.`);
  }
  if (hasCode(error, 'EPIPE')) return new FlorinError('conflict', 'Nobody reads the output any more.');
  return error;
};

const write = async (order: BackupOrder, base: BaseBackup, output: NodeJS.WritableStream): Promise<number> => {
  const { config, version, lock, withMasterKey, onBytes } = order;
  const { dataDir } = config;
  const { startedAt, majorVersion, masterKeyFingerprint } = base;
  let [done, of, written] = [0, 0, 0];
  const items = backupItems({
    dataDir,
    facts: {
      backupAt: startedAt.toISOString(),
      florin: version,
      postgres: majorVersion,
      masterKeyFingerprint,
      hasMasterKey: withMasterKey,
    },
    masterKey: withMasterKey ? await readMasterKey(config, masterKeyFingerprint) : null,
    finish: base.finish,
    onSize: bytes => {
      of = bytes;
    },
  });
  const archive = writeArchive(items, {
    seconds: Math.floor(startedAt.getTime() / 1_000),
    onBytes: count => {
      done += count;
      onBytes(done, of);
    },
  });
  async function* encrypted(source: AsyncIterable<Uint8Array>) {
    const bytes = addDigest(source);
    for await (const chunk of lock === null ? bytes : encryptAge(lock, bytes)) {
      written += chunk.length;
      yield chunk;
    }
  }
  const gaveUp = new AbortController();
  const stopWatching = watchOver(
    dataDir,
    () => written,
    error => gaveUp.abort(error),
  );
  const signal = AbortSignal.any([order.signal, gaveUp.signal]);
  try {
    await pipeline(archive, compress(), encrypted, output, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    stopWatching();
  }
  return written;
};

/** Backs up the running Florin of a data directory, without stopping it. The caller's memory does not grow with it. */
export const takeBackup = async (order: BackupOrder): Promise<BackupTaken> => {
  const { config, directory } = order;
  const server = await findServer(config);
  const base = await startBaseBackup(server);
  const backupAt = base.startedAt.toISOString();
  try {
    if (directory === null) return { file: null, backupAt, bytes: await write(order, base, process.stdout) };
    if (!(await stat(directory).catch(() => null))?.isDirectory()) {
      throw new FlorinError(
        'conflict',
        `${directory} is not a directory. Create it first: it may be a disk that is not mounted.`,
      );
    }
    const target = await openTarget(directory, nameOf(await ensureInstanceId(config.dataDir), base.startedAt, order));
    try {
      const bytes = await write(order, base, target.stream);
      return { file: await target.finish(), backupAt, bytes };
    } catch (error) {
      await target.discard();
      throw error;
    }
  } catch (error) {
    throw explained(error, order);
  } finally {
    await base.close();
  }
};
