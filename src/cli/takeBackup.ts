import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { formatSegment, nextSegment, parseSegment } from '../core/logSegment.ts';
import { writeArchive } from '../local/backup/archive.ts';
import { type BackupEnd, backupItems, type LogContinuation } from '../local/backup/backupItems.ts';
import { addDigest, compress } from '../local/backup/compression.ts';
import { lateFile } from '../local/backup/dataFiles.ts';
import { archiveFolder } from '../local/backup/logArchiveFolder.ts';
import { ensureBackupsId } from '../local/instanceId.ts';
import { names } from '../local/postgres/createCluster.ts';
import { findSuperuser, type PostgresConnection } from '../local/postgres/startPostgres.ts';
import { type BaseBackup, type BaseBackupEnd, startBaseBackup } from '../storage/baseBackup.ts';
import { archiveOfSlot } from '../storage/logArchive.ts';
import { type AgeLock, encryptAge } from '../vault/ageFile.ts';
import { masterKeyPath, parseMasterKey } from '../vault/masterKey.ts';
import type { Config } from './config.ts';
import { diskIsNearlyFull, sizeOf } from './disk.ts';
import { openTarget } from './writeTarget.ts';

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

export type BackupTaken = {
  readonly file: string | null;
  readonly backupAt: string;
  readonly bytes: number;
  /** Where the log goes on, if it is archived. */
  readonly log: LogContinuation | null;
};

/** Begins the names of the files that the schedule of this data directory makes. */
export const scheduledPrefix = (backupsId: string): string => `florin-auto-${backupsId.slice(0, 8)}-`;

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
    if (!(await diskIsNearlyFull(dataDir))) return;
    giveUp(new FlorinError('conflict', `The disk of ${dataDir} is nearly full. The backup was given up.`));
  };
  const timer = setInterval(() => void check().catch(giveUp), checkEveryMs);
  return () => clearInterval(timer);
};

const nameOf = (backupsId: string, startedAt: Date, { lock, isScheduled }: BackupOrder): string => {
  const time = startedAt.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const prefix = isScheduled ? scheduledPrefix(backupsId) : `florin-${backupsId.slice(0, 8)}-`;
  return `${prefix}${time}.tar.zst${lock === null ? '' : '.age'}`;
};

const explained = (error: unknown, { directory }: BackupOrder): unknown => {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) {
    return new FlorinError('conflict', `The disk of ${directory ?? 'the output'} is full. Nothing was kept.`);
  }
  if (hasCode(error, 'EPIPE')) return new FlorinError('conflict', 'Nobody reads the output any more.');
  return error;
};

const endOf = async (dataDir: string, { segments, endedAt, archiveSlot }: BaseBackupEnd): Promise<BackupEnd> => {
  if (archiveSlot === null) return { endedAt: endedAt.toISOString(), log: null };
  const folder = archiveFolder(await ensureBackupsId(dataDir), archiveOfSlot(archiveSlot));
  const next = nextSegment(parseSegment(segments.at(-1)!)!);
  const journalBytes = await sizeOf(join(dataDir, lateFile));
  return { endedAt: endedAt.toISOString(), log: { folder, nextSegment: formatSegment(next), journalBytes } };
};

type Written = Pick<BackupTaken, 'bytes' | 'log'>;

const write = async (order: BackupOrder, base: BaseBackup, output: NodeJS.WritableStream): Promise<Written> => {
  const { config, version, lock, withMasterKey, onBytes } = order;
  const { dataDir } = config;
  const { startedAt, majorVersion, masterKeyFingerprint } = base;
  let [done, of, written] = [0, 0, 0];
  let end: BackupEnd | null = null as BackupEnd | null;
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
    async finish() {
      const ended = await base.finish();
      end = await endOf(dataDir, ended);
      return { label: ended.label, segments: ended.segments, end };
    },
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
  return { bytes: written, log: end?.log ?? null };
};

/** Backs up the running Florin of a data directory, without stopping it. The caller's memory does not grow with it. */
export const takeBackup = async (order: BackupOrder): Promise<BackupTaken> => {
  const { config, directory } = order;
  const server = await findServer(config);
  const base = await startBaseBackup(server);
  const backupAt = base.startedAt.toISOString();
  try {
    if (directory === null) return { file: null, backupAt, ...(await write(order, base, process.stdout)) };
    if (!(await stat(directory).catch(() => null))?.isDirectory()) {
      throw new FlorinError(
        'conflict',
        `${directory} is not a directory. Create it first: it may be a disk that is not mounted.`,
      );
    }
    const name = nameOf(await ensureBackupsId(config.dataDir), base.startedAt, order);
    // A process that was killed may have begun one in the same second.
    const target = await openTarget(directory, `${name}.${process.pid}`);
    try {
      const written = await write(order, base, target.stream);
      return { file: await target.finish(name), backupAt, ...written };
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
