import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import { hasCode } from '../../core/errorCode.ts';

const limitBytes = 8 * 1024 * 1024;

/**
 * Keeps the server's log small, with one older copy. The server holds the file open for appending, so the content is
 * copied and cut off; renaming the file would not help. On a full disk the copy fails and the cut makes room.
 */
export const boundServerLog = async (path: string): Promise<void> => {
  try {
    if ((await stat(path)).size <= limitBytes) return;
    await copyFile(path, `${path}.1`).catch(() => {});
    await truncate(path, 0);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
};

export const openServerLog = (path: string) => open(path, 'a', 0o600);

/** The last lines, for the error message of a failed start. */
export const tailServerLog = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
};
