import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';

/** A small disk is a mount, which is root's to make, and not in every sandbox either. */
export const canMount =
  process.getuid?.() === 0 && process.platform === 'linux' && spawnSync('unshare', ['-m', 'true']).status === 0;

/** Mounts one there; answers how to take it away again. */
export const mountSmallDisk = async (path: string, sizeMb: number): Promise<() => void> => {
  await mkdir(path, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0755`, 'tmpfs', path]);
  return () => void execFileSync('umount', [path]);
};

/** Takes all the room that is left on a small disk. */
export const fillDisk = async (path: string): Promise<void> => {
  const file = await open(path, 'w');
  try {
    for (const sizeBytes of [2 ** 20, 4_096]) {
      for (let isFull = false; !isFull; ) {
        try {
          await file.write(Buffer.alloc(sizeBytes, 1));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          isFull = true;
        }
      }
    }
  } finally {
    await file.close();
  }
};
