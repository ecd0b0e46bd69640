import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { writeFileAtomically } from './writeFileAtomically.ts';

/**
 * The name of whoever runs on this data directory. Its lock lets one process run there at a time, so that one may take
 * over what an earlier one was killed with.
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
