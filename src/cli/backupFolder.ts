import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FlorinError } from '../core/errors.ts';

/** Backups of one data directory have its id and the time when they began in their names. */
const backupName = /^florin-(?:auto-)?([0-9a-f]{8})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.zst(?:\.age)?$/;

/** `of`: the id of the data directory's backups. */
export type BackupFile = { readonly file: string; readonly of: string; readonly beganAt: Date };

/** Null if it is not the name of a backup. */
export const beganAtOf = (name: string): Date | null => {
  const [, , year, month, day, hours, minutes, seconds] = backupName.exec(name) ?? [];
  return year === undefined ? null : new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
};

/** The backups of a directory, newest first. */
export const listBackups = async (directory: string): Promise<readonly BackupFile[]> =>
  (await readdir(directory))
    .flatMap(name => {
      const beganAt = beganAtOf(name);
      return beganAt === null ? [] : [{ file: join(directory, name), of: backupName.exec(name)![1]!, beganAt }];
    })
    .sort((one, other) => other.beganAt.getTime() - one.beganAt.getTime());

/** The backups of a directory that began before a time, newest first. */
export const backupsBefore = async (directory: string, until: Date | null): Promise<readonly BackupFile[]> => {
  const all = await listBackups(directory);
  const oldest = all.at(-1);
  if (oldest === undefined) throw new FlorinError('conflict', `There is no backup in ${directory}.`);
  if (all.some(each => each.of !== oldest.of)) {
    throw new FlorinError(
      'conflict',
      `${directory} has backups of more than one data directory. Name the file to begin with.`,
    );
  }
  const before = all.filter(({ beganAt }) => until === null || beganAt < until);
  if (before.length > 0) return before;
  const when = oldest.beganAt.toISOString();
  throw new FlorinError('conflict', `The oldest backup in ${directory} began at ${when}. Give a later time.`);
};
