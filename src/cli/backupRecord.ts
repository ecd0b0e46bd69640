import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import type { BackupSchedule } from '../engine/context.ts';
import type { LogContinuation } from '../local/backup/backupItems.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import type { Config } from './config.ts';

/** What the schedule of this data directory has done. A file, because `florin doctor` may lack the server's settings. */
export type BackupRecord = {
  /** Null: backups are not scheduled. */
  readonly schedule: { readonly hours: number; readonly since: string } | null;
  readonly last: {
    readonly backupAt: string;
    readonly file: string;
    readonly bytes: number;
    /** Where its log goes on; null if the log was not archived. */
    readonly log?: LogContinuation | null;
  } | null;
  /** Where the log goes on after each backup of the schedule that is kept, by the name of its file. */
  readonly continuations: Readonly<Record<string, LogContinuation | null>>;
  /** Since when no attempt has succeeded. */
  readonly failing: { readonly since: string; readonly reason: string } | null;
};

type Directory = Pick<Config, 'dataDir'>;

const pathOf = ({ dataDir }: Directory): string => join(dataDir, 'backups.json');

const nothing: BackupRecord = { schedule: null, last: null, continuations: {}, failing: null };

/** A damaged file is only a memory of what was done, and the next success replaces it. */
export const readBackupRecord = async (config: Directory): Promise<BackupRecord> => {
  try {
    return { ...nothing, ...(JSON.parse(await readFile(pathOf(config), 'utf8')) as Partial<BackupRecord>) };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return nothing;
    throw error;
  }
};

export const writeBackupRecord = (config: Directory, record: BackupRecord): Promise<void> =>
  writeFileAtomically(pathOf(config), `${JSON.stringify(record)}\n`, 0o600);

const hourMs = 3_600_000;

/** Before the first success, the schedule itself counts. */
const isInTime = ({ schedule, last }: BackupRecord, nowMs: number): boolean =>
  schedule === null || nowMs - Date.parse(last?.backupAt ?? schedule.since) <= 2 * schedule.hours * hourMs;

/** For the home page. */
export const readBackupSchedule = async (
  config: Pick<Config, 'dataDir' | 'database'>,
  nowMs: number,
): Promise<BackupSchedule | null> => {
  const record = await readBackupRecord(config);
  const { schedule, last, failing } = record;
  if (schedule === null && config.database !== null) return null;
  return {
    isScheduled: schedule !== null,
    isInTime: isInTime(record, nowMs),
    lastAt: last?.backupAt ?? null,
    failingSince: failing?.since ?? null,
  };
};

/** For `florin doctor`. */
export const judgeBackups = (
  record: BackupRecord,
  nowMs: number,
): { readonly ok: boolean; readonly detail: string } => {
  const { schedule, last, failing } = record;
  if (schedule === null)
    return { ok: true, detail: 'not scheduled: set FLORIN_BACKUP_DIR, or run florin backup yourself' };
  const { hours, since } = schedule;
  const latest = last === null ? `none since ${since}` : `the last one is from ${last.backupAt} (${last.file})`;
  const why = failing === null ? '' : `, and attempts fail since ${failing.since}: ${failing.reason}`;
  return { ok: isInTime(record, nowMs), detail: `every ${hours} hours; ${latest}${why}` };
};
