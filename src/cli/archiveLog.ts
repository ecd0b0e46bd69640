import { randomBytes } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { segmentBytes } from '../core/logSegment.ts';
import { type AlertingOfBackups, alertOfBackup } from '../engine/audit/deploymentAlert.ts';
import { archiveFolder } from '../local/backup/logArchiveFolder.ts';
import { ensureBackupsId } from '../local/instanceId.ts';
import { names } from '../local/postgres/createCluster.ts';
import { keepOwner, syncDirectory } from '../local/postgres/postgresFiles.ts';
import { findSuperuser } from '../local/postgres/startPostgres.ts';
import { type LogServer, openLogServer } from '../storage/logArchive.ts';
import { type Loop, startLoop } from '../workers/loop.ts';
import { archiveJournal, archiveRound, OtherHistory } from './archiveRound.ts';
import type { Config } from './config.ts';
import { diskIsNearlyFull } from './disk.ts';
import { graceMs, type LogArchiveRecord, readLogArchiveRecord, writeLogArchiveRecord } from './logArchiveRecord.ts';

type Schedule = NonNullable<Config['backups']>;

/** Finished segments are archived soon, so that they do not come all at once. */
const longestIntervalMs = 5_000;

const connect = async ({ dataDir }: Config): Promise<LogServer> => {
  const superuser = await findSuperuser({ dataDir });
  if (superuser === null) throw new FlorinError('service_unavailable', 'The database is not running.');
  return openLogServer({ ...superuser, database: names.database });
};

const explained = (error: unknown, { directory }: Schedule): string => {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return `The disk of ${directory} is full (${codeOf(error)}).`;
  return error instanceof Error ? error.message : String(error);
};

type Parts = {
  readonly config: Config;
  readonly schedule: Schedule;
  readonly context: AlertingOfBackups;
  readonly backupsId: string;
};

/** Of the room at which it is given up. Otherwise it would begin and end, with a backup each time, while the disk is at its limit. */
const roomToBegin = 2;

/** A folder of its own for each unbroken sequence, so that nothing of another history can get into it. */
const begin = async ({ config, schedule, context, backupsId }: Parts, server: LogServer, signal: AbortSignal) => {
  const { directory, recipients, logSeconds: seconds } = schedule;
  if (!(await stat(directory).catch(() => null))?.isDirectory()) {
    throw new FlorinError('conflict', `${directory} is not a directory. It may be a disk that is not mounted.`);
  }
  const time = new Date(context.clock.nowMs())
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .toLowerCase();
  const archive = `${time}_${randomBytes(2).toString('hex')}`;
  const name = archiveFolder(backupsId, archive);
  const folder = join(directory, name);
  await mkdir(folder, { mode: 0o700 });
  await keepOwner(folder);
  await syncDirectory(directory);
  const lock = lockOf(recipients);
  try {
    await archiveJournal({ dataDir: config.dataDir, folder, lock, signal }, []);
    await server.begin(archive);
  } catch (error) {
    // Each attempt makes one.
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  context.log.info({ folder }, 'the log of the database is archived from now on');
  return writeLogArchiveRecord(config, { directory, folder: name, seconds, archivedAt: null, failing: null });
};

const createArchiver = (parts: Parts) => {
  const { config, schedule, context, backupsId } = parts;
  const { directory, recipients, logSeconds: seconds } = schedule;
  const { log, clock } = context;
  let server: LogServer | null = null;
  let [partAtMs, partUntil] = [Number.NEGATIVE_INFINITY, -1];

  /** True if there is more to do at once. */
  const archive = async (signal: AbortSignal): Promise<boolean> => {
    server ??= await connect(config);
    const record = await readLogArchiveRecord(config);
    const startedMs = clock.nowMs();
    let position = await server.read();
    const isElsewhere = record !== null && record.directory !== directory;
    if (position.archive !== null && isElsewhere) await server.forget();
    if (position.archive === null || isElsewhere) {
      // Its log would be kept until the disk is full again.
      if (await diskIsNearlyFull(config.dataDir, roomToBegin)) {
        throw new FlorinError('conflict', `The disk of ${config.dataDir} is nearly full, so the log is not archived.`);
      }
      await begin(parts, server, signal);
      position = await server.read();
      partUntil = -1;
    }
    const { archive: id, flushed } = position;
    const name = archiveFolder(backupsId, id!);
    const place = { dataDir: config.dataDir, folder: join(directory, name), lock: lockOf(recipients), signal };
    const isDue = startedMs - partAtMs >= seconds * 1_000;
    const withPart = isDue && flushed !== partUntil;
    const { more } = await archiveRound(place, server, { ...position, archive: id! }, withPart);
    if (more || !isDue) return more;
    [partAtMs, partUntil] = [startedMs, flushed];
    const archivedAt = new Date(startedMs).toISOString();
    await writeLogArchiveRecord(config, { directory, folder: name, seconds, archivedAt, failing: null });
    return false;
  };

  const tellOnce = async (error: unknown): Promise<void> => {
    const record = await readLogArchiveRecord(config);
    const nowMs = clock.nowMs();
    const before = record ?? { directory, folder: 'no folder', seconds, archivedAt: null, failing: null };
    const { since, isTold } = before.failing ?? { since: new Date(nowMs).toISOString(), isTold: false };
    if (before.failing === null) log.error({ directory, err: error }, 'the log of the database is not archived');
    const mustTell = !isTold && (error instanceof OtherHistory || nowMs - Date.parse(since) > graceMs(seconds));
    if (mustTell) await alertOfBackup(context, new Date(nowMs), 'log_archive.failed');
    const failing: LogArchiveRecord['failing'] = {
      since,
      reason: explained(error, schedule),
      isTold: isTold || mustTell,
    };
    await writeLogArchiveRecord(config, { ...before, failing });
  };

  const disconnect = async (): Promise<void> => {
    await server?.close();
    server = null;
  };

  return {
    async work(signal: AbortSignal): Promise<boolean> {
      try {
        return await archive(signal);
      } catch (error) {
        if (signal.aborted) return false;
        // The other history keeps its folder. This one goes on in a new one.
        if (error instanceof OtherHistory) await server?.forget();
        await disconnect();
        await tellOnce(error);
        return false;
      }
    },
    disconnect,
  };
};

const lockOf = (recipients: readonly string[]) => ({ kind: 'recipients', recipients }) as const;

/** So much may wait for its archive on a disk that is nearly full. */
const mostWaitingBytes = 4 * segmentBytes;

/**
 * Payments come before the archive: if the disk of the database fills with log that waits for its archive, the archive is
 * given up. A loop of its own, because a write to a network disk that is away may not return.
 */
const startGuard = ({ config, context }: Parts): Loop =>
  startLoop({
    name: 'log archive guard',
    intervalMs: longestIntervalMs,
    log: context.log,
    async work() {
      if (!(await diskIsNearlyFull(config.dataDir))) return false;
      const server = await connect(config);
      try {
        const { archive, keptFrom, flushed } = await server.read();
        if (archive === null || flushed - keptFrom < mostWaitingBytes) return false;
        await server.forget();
        context.log.error({ archive }, 'the disk is nearly full: the archive of the log was given up');
        await alertOfBackup(context, new Date(context.clock.nowMs()), 'log_archive.failed');
      } finally {
        await server.close();
      }
      return false;
    },
  });

/** Begins before the first backup, which then knows where its log goes on. */
const startArchiving = async (parts: Parts): Promise<Loop> => {
  const { context, schedule } = parts;
  const archiver = createArchiver(parts);
  const intervalMs = Math.min(longestIntervalMs, schedule.logSeconds * 1_000);
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const work = (signal: AbortSignal): Promise<boolean> => archiver.work(signal).finally(resolve);
  const loop = startLoop({ name: 'log archive', intervalMs, log: context.log, work });
  const guard = startGuard(parts);
  // A network disk that is away may not answer.
  await Promise.race([begun, pause(longestIntervalMs, undefined, { ref: false })]);
  return {
    async stop() {
      await Promise.all([loop.stop(), guard.stop()]);
      await archiver.disconnect();
    },
  };
};

/** Metrics and `florin doctor` must not wait for an archive that nobody writes any more. */
const forgetArchive = async (config: Config): Promise<void> => {
  if ((await readLogArchiveRecord(config)) !== null) await writeLogArchiveRecord(config, null);
};

/** What nobody archives any more must not be kept: the disk would fill. */
const stopArchiving = async (config: Config): Promise<void> => {
  const server = await connect(config);
  try {
    if ((await server.read()).archive !== null) await server.forget();
  } finally {
    await server.close();
  }
  await forgetArchive(config);
};

/** The embedded database has this one process, so it archives whatever its roles. */
export const archiveLog = async (config: Config, context: AlertingOfBackups): Promise<Loop[]> => {
  if (config.database !== null) {
    // This directory may have had an embedded database before.
    await forgetArchive(config);
    return [];
  }
  const schedule = config.backups;
  if (schedule !== null && schedule.logSeconds > 0) {
    const backupsId = await ensureBackupsId(config.dataDir);
    return [await startArchiving({ config, schedule, context, backupsId })];
  }
  await stopArchiving(config);
  return [];
};
