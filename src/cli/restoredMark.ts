import { access, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import { restoredMark, unfinishedRestore } from '../local/backup/dataFiles.ts';
import { type Config, ConfigError } from './config.ts';

type Directory = Pick<Config, 'dataDir'>;

/** A directory in which a restore was killed has a part of the files, or all of them and not yet on disk. */
export const refuseUnfinishedRestore = async ({ dataDir }: Directory): Promise<void> => {
  const isUnfinished = await access(join(dataDir, unfinishedRestore)).then(
    () => true,
    () => false,
  );
  if (!isUnfinished) return;
  throw new ConfigError([`A restore into ${dataDir} did not end. Delete the directory and run florin restore again.`]);
};

/**
 * Every backup contains this file, however it is unpacked. A directory with it was restored, and nothing else in it shows
 * that. Null if there is none.
 */
export const readRestoredMark = async ({ dataDir }: Directory): Promise<Declaration | null> => {
  const path = join(dataDir, restoredMark);
  const text = await readFile(path, 'utf8').catch(error => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (text === null) return null;
  let time = Number.NaN;
  try {
    time = Date.parse((JSON.parse(text) as { backupAt: string }).backupAt);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (Number.isNaN(time)) throw new ConfigError([`${path} is damaged. Restore the backup again.`]);
  return { backupAt: new Date(time) };
};

/** The restore is declared, and the database remembers it. */
export const removeRestoredMark = async ({ dataDir }: Directory): Promise<void> => {
  await rm(join(dataDir, restoredMark), { force: true });
  const directory = await open(dataDir, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
