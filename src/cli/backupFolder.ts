import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FlorinError } from '../core/errors.ts';
import type { BackupFacts } from '../local/backup/backupItems.ts';
import { peekFacts } from '../local/backup/readBackup.ts';
import { type KeyOptions, openBackup } from './readableBackup.ts';

/** Backups of one data directory, by their names: `florin-[auto-]INSTANCE-TIME.tar.zst[.age]`. */
const backupName = /^florin-(?:auto-)?([0-9a-f]{8})-\d{8}T\d{6}Z\.tar\.zst(?:\.age)?$/;

export const listBackups = async (directory: string): Promise<{ file: string; instance: string }[]> =>
  (await readdir(directory))
    .map(name => ({ file: join(directory, name), instance: backupName.exec(name)?.[1] ?? '' }))
    .filter(({ instance }) => instance !== '')
    .sort((one, other) => (one.file < other.file ? -1 : 1));

export type Candidate = { readonly file: string; readonly facts: BackupFacts };

/** The backups of a directory that began before a time, newest first. */
export const backupsBefore = async (
  directory: string,
  until: Date | null,
  options: KeyOptions,
): Promise<readonly Candidate[]> => {
  const listed = await listBackups(directory);
  if (listed.length === 0) throw new FlorinError('conflict', `There is no backup in ${directory}.`);
  if (new Set(listed.map(({ instance }) => instance)).size > 1) {
    throw new FlorinError(
      'conflict',
      `${directory} has backups of more than one data directory. Name the file to begin with.`,
    );
  }
  const all: Candidate[] = [];
  for (const { file } of listed) all.push({ file, facts: await peekFacts(openBackup(file, options)) });
  all.sort((one, other) => Date.parse(other.facts.backupAt) - Date.parse(one.facts.backupAt));
  const before = all.filter(({ facts }) => until === null || Date.parse(facts.backupAt) < until.getTime());
  if (before.length > 0) return before;
  throw new FlorinError(
    'conflict',
    `The oldest backup is of ${all.at(-1)!.facts.backupAt}. Nothing older can be restored.`,
  );
};
