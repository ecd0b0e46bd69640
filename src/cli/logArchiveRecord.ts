import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import type { Config } from './config.ts';

/** How far the log of the database is archived. A file, because `florin doctor` is another process. */
export type LogArchiveRecord = {
  /** An absolute path: where backups go. */
  readonly directory: string;
  /** The folder in it. */
  readonly folder: string;
  readonly seconds: number;
  /** What was committed before is archived. Null at the beginning. */
  readonly archivedAt: string | null;
  /** Since when no attempt has succeeded, and whether an alert tells so. */
  readonly failing: { readonly since: string; readonly reason: string; readonly isTold: boolean } | null;
};

type Directory = Pick<Config, 'dataDir'>;

const pathOf = ({ dataDir }: Directory): string => join(dataDir, 'log-archive.json');

/** Null if the log is not archived. A damaged file is written anew within seconds. */
export const readLogArchiveRecord = async (config: Directory): Promise<LogArchiveRecord | null> => {
  try {
    return JSON.parse(await readFile(pathOf(config), 'utf8')) as LogArchiveRecord | null;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return null;
    throw error;
  }
};

export const writeLogArchiveRecord = (config: Directory, record: LogArchiveRecord | null): Promise<void> =>
  writeFileAtomically(pathOf(config), `${JSON.stringify(record)}\n`, 0o600);

/** A disk that is away for a moment is no reason to wake somebody. */
export const graceMs = (seconds: number): number => Math.max(300_000, 5_000 * seconds);

/** For `florin doctor`. */
export const judgeLogArchive = (
  record: LogArchiveRecord | null,
  nowMs: number,
): { readonly ok: boolean; readonly detail: string } => {
  if (record === null) return { ok: true, detail: 'not archived: see FLORIN_BACKUP_LOG_SECONDS' };
  const { archivedAt, failing, folder, seconds } = record;
  const why = failing === null ? '' : `, and attempts fail since ${failing.since}: ${failing.reason}`;
  const since = archivedAt ?? failing?.since;
  const isLate = since !== undefined && nowMs - Date.parse(since) > graceMs(seconds);
  const until = archivedAt === null ? 'nothing is archived yet' : `archived until ${archivedAt}`;
  return { ok: !isLate, detail: `${until} in ${folder}${why}` };
};
