import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { chooseAccount, handOver } from './account.ts';
import { createCluster, hasCluster, refuseOtherVersion } from './createCluster.ts';
import { locatePostgres } from './locatePostgres.ts';
import type { Passwords } from './passwords.ts';
import { keepOwner, type PostgresFiles } from './postgresFiles.ts';
import { endPostmaster, findPostmaster, type Postmaster, spawnPostmaster, waitUntilReady } from './postmaster.ts';
import { disarmPostmasterFile } from './postmasterFile.ts';
import { endOrphansOf } from './processes.ts';
import { boundServerLog, openServerLog, tailServerLog } from './serverLog.ts';
import { ensureSocketDirectory } from './socketDirectory.ts';

export type ServerContext = {
  readonly files: PostgresFiles;
  readonly passwords: Passwords;
  readonly socketDirectory: string;
  readonly serverArguments: readonly string[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly probe: () => Promise<boolean>;
};

const readyTimeoutMs = 600_000;
const probeTimeoutMs = 5_000;
const attempts = 5;

/** Takes over a server whose parent was killed, if it answers with our password; otherwise ends it. */
export const adoptServer = async (context: ServerContext): Promise<Postmaster | null> => {
  const { files, log, signal } = context;
  const postmaster = await findPostmaster(files.cluster);
  if (postmaster === null) return null;
  const ready = await waitUntilReady(postmaster, files.cluster, { timeoutMs: readyTimeoutMs, signal });
  if (ready && (await answers(context))) {
    log.info({ pid: postmaster.pid }, 'took over the PostgreSQL server of an earlier start');
    return postmaster;
  }
  log.warn({ pid: postmaster.pid }, 'the PostgreSQL server of an earlier start does not answer; stopping it');
  await endPostmaster(postmaster, files.cluster, log);
  return null;
};

/**
 * Starts a server and waits until it answers. An attempt may fail for a passing reason: sessions of a killed server
 * have not noticed its end yet, or a parent started a server just before it was killed.
 */
export const launchServer = async (context: ServerContext, isFirst: boolean): Promise<Postmaster> => {
  const { files, signal } = context;
  for (let attempt = 1; ; attempt++) {
    const postmaster = await tryLaunch(context, isFirst);
    if (postmaster !== null) return postmaster;
    signal.throwIfAborted();
    if (attempt === (isFirst ? attempts : 1)) break;
    await pause(100 * 2 ** attempt, undefined, { signal });
    const other = await adoptServer(context);
    if (other !== null) return other;
  }
  throw new Error(`PostgreSQL does not start. The end of ${files.serverLog}:\n${await tailServerLog(files.serverLog)}`);
};

const tryLaunch = async (context: ServerContext, isFirst: boolean): Promise<Postmaster | null> => {
  const { files, log, signal, socketDirectory } = context;
  const binaries = await locatePostgres({ linkDir: files.links });
  const { account, majorVersion } = await chooseAccount(files, binaries, log);
  if (isFirst && !(await hasCluster(files))) await createCluster({ ...context, binaries, account });
  await refuseOtherVersion(files, majorVersion);
  if ((await ensureSocketDirectory(files)) !== socketDirectory) {
    throw new Error(`The directory ${socketDirectory} of the database's socket was replaced. Start Florin again.`);
  }
  // A server that was started just before its parent was killed may have come up meanwhile.
  if ((await findPostmaster(files.cluster)) !== null) return null;
  await endOrphansOf(files.cluster);
  await disarmPostmasterFile(files.cluster, socketDirectory);
  await handOver(files.cluster, account);
  await handOver(socketDirectory, account);
  await boundServerLog(files.serverLog);
  const serverLog = await openServerLog(files.serverLog);
  let postmaster: Postmaster;
  try {
    await keepOwner(files.serverLog);
    postmaster = await spawnPostmaster({
      cluster: files.cluster,
      binaries,
      account,
      args: context.serverArguments,
      logDescriptor: serverLog.fd,
    });
  } finally {
    await serverLog.close();
  }
  const ready = await waitUntilReady(postmaster, files.cluster, { timeoutMs: readyTimeoutMs, signal });
  // A server restarted on a full disk may not answer until there is room. It is ours, so it stays.
  if (ready && (!isFirst || (await answers(context)))) return postmaster;
  await endPostmaster(postmaster, files.cluster, log);
  return null;
};

const answers = async (context: ServerContext): Promise<boolean> => {
  const giveUp = new AbortController();
  const tooLate = pause(probeTimeoutMs, false, { signal: giveUp.signal }).catch(() => false);
  const answered = await Promise.race([context.probe().catch(() => false), tooLate]);
  giveUp.abort();
  return answered;
};
