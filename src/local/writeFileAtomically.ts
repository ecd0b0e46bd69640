import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** After a crash the file has either its old content or the new one, never a part of it. */
export const writeFileAtomically = async (path: string, content: string, mode: number): Promise<void> => {
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporaryPath, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
  // The rename itself is durable only once the directory has been synced.
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
