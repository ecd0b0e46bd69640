import { spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AlertingOfBackups, alertOfBackup } from '../engine/audit/deploymentAlert.ts';
import { ensureBackupsId } from '../local/instanceId.ts';
import { type Loop, startLoop } from '../workers/loop.ts';
import { type BackupRecord, readBackupRecord, writeBackupRecord } from './backupRecord.ts';
import type { Config } from './config.ts';
import { keptBackups } from './keptBackups.ts';
import { readLogArchiveRecord } from './logArchiveRecord.ts';
import { removeOlderLog } from './removeOlderLog.ts';
import { type BackupTaken, scheduledPrefix } from './takeBackup.ts';

type Schedule = NonNullable<Config['backups']>;
type Answer = BackupTaken & { readonly priorityRefused: string | null };

const florin = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));
const [hourMs, lookEveryMs] = [3_600_000, 60_000];
const keptOutput = 20_000;

/**
 * Runs `florin backup` in a process of its own: reading, hashing and encrypting gigabytes would delay every request of this
 * one. Settings come from the environment, as for the command that a person runs.
 */
const runBackup = (dataDir: string, { directory, recipients }: Schedule, signal: AbortSignal): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const to = recipients.flatMap(recipient => ['--recipient', recipient]);
    const args = [florin, 'backup', '--scheduled', '--to', directory, ...to, '--data-dir', dataDir, '--json'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGTERM' });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-keptOutput);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-keptOutput);
    });
    let failure: unknown = null;
    child.once('error', error => {
      failure = error;
      // It was not started, or is about to end.
      if (child.pid === undefined) reject(error);
    });
    child.once('close', code => {
      if (code === 0) return resolve(JSON.parse(stdout) as Answer);
      const said = stderr.split('\n').filter(line => line.startsWith('florin: '));
      reject(failure ?? new Error(said.at(-1)?.slice('florin: '.length) ?? `florin backup ended with ${code}`));
    });
  });

/** Removes what the schedule of this directory does not keep, and what a killed backup of it left unfinished. Returns what is kept. */
const removeOlder = async (schedule: Schedule, backupsId: string, nowMs: number): Promise<string[]> => {
  const { directory } = schedule;
  const prefix = scheduledPrefix(backupsId);
  const names = await readdir(directory);
  const whole = names.filter(name => name.startsWith(prefix) && name.endsWith('.tar.zst.age'));
  const kept = keptBackups(whole, schedule, nowMs);
  const older = whole.filter(name => !kept.includes(name));
  const unfinished = names.filter(name => name.startsWith(`.${prefix}`) && name.endsWith('.partial'));
  for (const name of [...older, ...unfinished]) await rm(join(directory, name), { force: true });
  return kept;
};

/**
 * When the next attempt is due. After a failure, an hour later at most. An archive of the log is of use after a backup. A last
 * backup in the future was taken while the clock was wrong.
 */
const dueMs = (
  { last }: BackupRecord,
  archive: string | null,
  { hours, failedMs, nowMs }: { readonly hours: number; readonly failedMs: number | null; readonly nowMs: number },
): number => {
  const isOfUse = archive === null || last?.log?.folder === archive;
  const lastMs = last === null ? Number.POSITIVE_INFINITY : Date.parse(last.backupAt);
  const regular = !isOfUse || lastMs > nowMs + hourMs ? 0 : lastMs + hours * hourMs;
  return failedMs === null ? regular : failedMs + Math.min(hours, 1) * hourMs;
};

/** `lookMs` is for tests. */
const startBackups = async (
  config: Config,
  schedule: Schedule,
  context: AlertingOfBackups,
  lookMs = lookEveryMs,
): Promise<Loop> => {
  const { hours, directory } = schedule;
  const { log, clock } = context;
  const backupsId = await ensureBackupsId(config.dataDir);
  const before = await readBackupRecord(config);
  const since = before.schedule?.since ?? new Date(clock.nowMs()).toISOString();
  await writeBackupRecord(config, { ...before, schedule: { hours, since } });
  let failedMs: number | null = null;
  const attempt = async (record: BackupRecord, signal: AbortSignal): Promise<void> => {
    try {
      const taken = await runBackup(config.dataDir, schedule, signal);
      const { backupAt, file, bytes, log: continuation, priorityRefused: code } = taken;
      const last = { backupAt, file: file!, bytes, log: continuation };
      const continuations = { ...record.continuations, [basename(file!)]: continuation };
      await writeBackupRecord(config, { ...record, last, continuations, failing: null });
      failedMs = null;
      log.info({ file, bytes, backupAt }, 'a backup was taken');
      if (code !== null) log.warn({ code }, 'the system refused a lower priority to the backup');
      const kept = await removeOlder(schedule, backupsId, clock.nowMs());
      const remembered = Object.fromEntries(Object.entries(continuations).filter(([name]) => kept.includes(name)));
      await writeBackupRecord(config, { ...record, last, continuations: remembered, failing: null });
      const current = (await readLogArchiveRecord(config))?.folder ?? null;
      // Of a backup from elsewhere it is not known which log it needs. A first archive may just be beginning.
      const isKnown = current !== null || schedule.logSeconds === 0;
      if (isKnown && kept.every(name => name in remembered)) {
        await removeOlderLog(directory, { backupsId, current, kept: Object.values(remembered) });
      }
    } catch (error) {
      if (signal.aborted) return;
      failedMs = clock.nowMs();
      log.error({ directory, err: error }, 'the scheduled backup failed');
      const failing = record.failing ?? {
        since: new Date(failedMs).toISOString(),
        reason: error instanceof Error ? error.message : String(error),
      };
      await writeBackupRecord(config, { ...record, failing });
      // Once until the next success: an alert every hour would be ignored.
      if (record.failing === null) await alertOfBackup(context, new Date(failedMs));
    }
  };
  return startLoop({
    name: 'backups',
    intervalMs: lookMs,
    log,
    async work(signal) {
      const record = await readBackupRecord(config);
      const archive = (await readLogArchiveRecord(config))?.folder ?? null;
      const nowMs = clock.nowMs();
      if (nowMs >= dueMs(record, archive, { hours, failedMs, nowMs })) await attempt(record, signal);
      return false;
    },
  });
};

/** `florin doctor` must not wait for backups that nobody schedules any more. */
const forgetSchedule = async (config: Config): Promise<void> => {
  const record = await readBackupRecord(config);
  if (record.schedule !== null) await writeBackupRecord(config, { ...record, schedule: null, failing: null });
};

/** The embedded database has this one process, so it takes the backups whatever its roles. */
export const scheduleBackups = async (
  config: Config,
  context: AlertingOfBackups,
  lookMs: number | undefined,
): Promise<Loop[]> => {
  if (config.backups) return [await startBackups(config, config.backups, context, lookMs)];
  await forgetSchedule(config);
  return [];
};
