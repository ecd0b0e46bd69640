import { stat, statfs } from 'node:fs/promises';
import { hasCode } from '../core/errorCode.ts';

const leastFreeBytes = 256 * 1024 * 1024;

/** Whether the database could soon not write any more. On a small disk, a part of it counts. `times`: of that limit. */
export const diskIsNearlyFull = async (directory: string, times = 1): Promise<boolean> => {
  const { bavail, blocks, bsize } = await statfs(directory);
  return bavail * bsize < times * Math.min(leastFreeBytes, (blocks * bsize) / 20);
};

/** 0 if there is no such file. */
export const sizeOf = async (file: string): Promise<number> => {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
};
