import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FlorinError } from '../../core/errors.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { LogSegment } from '../../core/logSegment.ts';
import { createLogFeed } from '../backup/logFeed.ts';
import { chooseAccount, handOver } from './account.ts';
import { refuseOtherVersion } from './createCluster.ts';
import { locatePostgres } from './locatePostgres.ts';
import { isRoot, postgresFiles, writePrivateFile } from './postgresFiles.ts';
import { endPostmaster, spawnPostmaster, waitUntilReady } from './postmaster.ts';
import { openServerLog, tailServerLog } from './serverLog.ts';
import { serverArguments } from './serverSettings.ts';
import { ensureSocketDirectory } from './socketDirectory.ts';
import { findSuperuser, type PostgresConnection } from './startPostgres.ts';

export type Recovery = {
  /** A data directory with the cluster of a backup, which nobody else uses. An absolute path without links. */
  readonly directory: string;
  /** Null plays everything. */
  readonly until: Date | null;
  /** The first segment that is not in the backup itself. */
  readonly from: LogSegment;
  /** The content of a segment of the archive; null if it has none. */
  readonly openSegment: (segment: LogSegment) => AsyncIterable<Uint8Array> | null;
  readonly signal: AbortSignal;
};

/** The log ended before the wanted time. */
export class LogTooShort extends FlorinError {
  constructor() {
    super('conflict', 'The archived log ends earlier.');
  }
}

/** Longer than any log is played. */
const longestMs = 7 * 24 * 3_600_000;

/** The abbreviation Z of a time zone is not known so early. */
const settingsOf = (command: string, until: Date | null): Record<string, string> => ({
  restore_command: command,
  // No folder has two: each restore begins a new one.
  recovery_target_timeline: 'current',
  recovery_target_action: 'promote',
  ...(until === null ? {} : { recovery_target_time: until.toISOString().replace('Z', '+00') }),
  // It answers only when it has played everything.
  hot_standby: 'off',
  autovacuum: 'off',
});

/**
 * Lets a server play the archived log on a restored cluster, asks it something when it has, and stops it. The cluster then
 * is as after an ordinary stop, on a timeline of its own.
 */
export const recoverCluster = async <T>(
  { directory, until, from, openSegment, signal }: Recovery,
  ask: (superuser: PostgresConnection) => Promise<T>,
  log: Log = silentLog,
): Promise<T> => {
  const files = postgresFiles(directory);
  // As root, the server runs under another account, which must be able to enter.
  if (isRoot()) for (const path of [directory, files.directory]) await chmod(path, 0o711);
  const socketDirectory = await ensureSocketDirectory(files);
  const binaries = await locatePostgres({ linkDir: files.links });
  const { account, majorVersion } = await chooseAccount(files, binaries, log);
  await refuseOtherVersion(files, majorVersion);
  const folder = join(files.directory, 'log-feed');
  const owner = account.kind === 'user' ? account : null;
  const feed = await createLogFeed({ folder, owner, from, openSegment });
  await writePrivateFile(join(files.cluster, 'recovery.signal'), '');
  await handOver(files.cluster, account);
  await handOver(socketDirectory, account);
  const serverLog = await openServerLog(files.serverLog);
  const postmaster = await spawnPostmaster({
    cluster: files.cluster,
    binaries,
    account,
    args: serverArguments(socketDirectory, settingsOf(feed.command, until)),
    logDescriptor: serverLog.fd,
  }).finally(() => serverLog.close());
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  try {
    const feeding = feed.run(stopped);
    // If the feed fails, nobody waits any longer.
    feeding.catch(() => ended.abort());
    const ready = await waitUntilReady(postmaster, files.cluster, { timeoutMs: longestMs, signal: stopped });
    if (ready) {
      const answer = await ask((await findSuperuser({ dataDir: directory }))!);
      ended.abort();
      await feeding;
      return answer;
    }
    ended.abort();
    await feeding;
    signal.throwIfAborted();
    if (until !== null && feed.lacked() !== null) throw new LogTooShort();
    const said = await tailServerLog(files.serverLog);
    throw new FlorinError('conflict', `PostgreSQL could not play the archived log. The end of its log:\n${said}`);
  } finally {
    ended.abort();
    await endPostmaster(postmaster, files.cluster, log);
    for (const path of [folder, socketDirectory, files.socketRecord, files.serverLog, files.links]) {
      await rm(path, { recursive: true, force: true });
    }
  }
};
