import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { writeFileAtomically } from './writeFileAtomically.ts';

/**
 * Names the process that runs on this data directory. The lock of the directory admits one process at a time, so the
 * current one may take over the leases and claims of an earlier one that was killed.
 */
export const ensureInstanceId = async (dataDir: string): Promise<string> => {
  const path = join(dataDir, 'instance');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const id = randomBytes(12).toString('hex');
  await writeFileAtomically(path, `${id}\n`, 0o600);
  return id;
};
