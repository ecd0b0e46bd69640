import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { writeFileAtomically } from './writeFileAtomically.ts';

/** A random name that a file of the data directory keeps. */
const ensureId = async (dataDir: string, file: string): Promise<string> => {
  const path = join(dataDir, file);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const id = randomBytes(12).toString('hex');
  await writeFileAtomically(path, `${id}\n`, 0o600);
  return id;
};

/**
 * Names the process that runs on this data directory. The lock of the directory admits one process at a time, so the
 * current one may take over the leases and claims of an earlier one that was killed.
 */
export const ensureInstanceId = (dataDir: string): Promise<string> => ensureId(dataDir, 'instance');

/**
 * Names the backups of this data directory. No backup contains it: a restored directory must not take the backups of the one
 * that it is a copy of for its own, and remove them.
 */
export const ensureBackupsId = (dataDir: string): Promise<string> => ensureId(dataDir, 'backups-id');
