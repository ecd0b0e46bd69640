import { lchownSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type DataDirectoryLock = { release(): void };

const sqliteBusy = 5;

// Garbage collection of a handle would release its lock, so every held lock stays reachable from here.
const held = new Set<DatabaseSync>();

/**
 * Locks the data directory for this process, or throws when a living process holds it.
 *
 * Node has no flock. SQLite's write lock is a lock of the operating system on the file: it is taken atomically, ends
 * with the process, and does not depend on process ids, which are reused. Nothing is ever written to the file. Never
 * open the file by other means in this process, because closing that descriptor would drop the lock. Never remove it,
 * because two processes could then hold locks on two files of one name.
 */
export const lockDataDirectory = (options: { dataDir: string }): DataDirectoryLock => {
  mkdirSync(options.dataDir, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 });
  const directory = realpathSync(options.dataDir);
  const pidFile = join(directory, 'florin.pid');
  const lock = openLockFile(directory);
  try {
    lock.exec('PRAGMA journal_mode = MEMORY');
    // IMMEDIATE locks one byte that only one process can have; EXCLUSIVE could refuse two that start at once.
    lock.exec('BEGIN IMMEDIATE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new Error(
      `Florin is already running on ${directory}${describeHolder(pidFile)}. Stop that one, or choose another --data-dir`,
    );
  }
  held.add(lock);
  rmSync(pidFile, { force: true });
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o644 });
  return {
    release() {
      if (!held.delete(lock)) return;
      rmSync(pidFile, { force: true });
      lock.close();
    },
  };
};

const openLockFile = (directory: string): DatabaseSync => {
  const path = join(directory, 'florin.lock');
  const lock = new DatabaseSync(path, { timeout: 0 });
  if (process.geteuid?.() === 0) {
    // Root may start once in the directory of an ordinary user, who must be able to lock it afterwards.
    const owner = statSync(directory);
    lchownSync(path, owner.uid, owner.gid);
  }
  return lock;
};

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;

const describeHolder = (pidFile: string): string => {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return '';
  }
};
