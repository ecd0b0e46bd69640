import { chmod, lchown, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, hasCode } from '../../core/errorCode.ts';
import { FlorinError } from '../../core/errors.ts';
import { isRoot, syncDirectory } from '../postgres/postgresFiles.ts';
import { writeFileAtomically } from '../writeFileAtomically.ts';
import type { BackupFacts } from './backupItems.ts';
import { keyPath, unfinishedRestore } from './dataFiles.ts';
import { type BackupRead, type BackupSink, readBackup } from './readBackup.ts';

/** Of a file system that has a disk of its own. */
const harmless = new Set(['lost+found']);
const syncsAtOnce = 16;

const refuseUsed = async (dataDir: string): Promise<void> => {
  const entries = (await readdir(dataDir)).filter(name => !harmless.has(name));
  if (entries.length === 0) return;
  const why = entries.includes(unfinishedRestore)
    ? 'An earlier restore into it did not end: delete what it left, or choose another directory.'
    : 'A restore needs an empty one.';
  throw new FlorinError('conflict', `The directory ${dataDir} is not empty. ${why}`);
};

/** Waits until everything is on disk. One after the other would take minutes. */
const syncAll = async (root: string): Promise<void> => {
  const paths = [root, ...(await readdir(root, { recursive: true })).map(name => join(root, name))];
  const sync = async (): Promise<void> => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) await syncDirectory(path);
  };
  await Promise.all(Array.from({ length: syncsAtOnce }, sync));
};

/** Root may restore into the directory of an ordinary user, who starts Florin afterwards. */
const giveToOwner = async (dataDir: string, root: string): Promise<void> => {
  if (!isRoot()) return;
  const { uid, gid } = await stat(dataDir);
  if (uid === 0) return;
  for (const name of ['', ...(await readdir(root, { recursive: true }))]) await lchown(join(root, name), uid, gid);
};

const writeFileOf = async (path: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> => {
  const file = await open(path, 'wx', mode);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
};

const sinkInto = (root: string, begin: BackupSink['begin']): BackupSink => ({
  begin,
  async directory({ path, mode }) {
    await mkdir(join(root, path), { mode });
    // The umask does not count.
    await chmod(join(root, path), mode);
  },
  file: ({ path, mode }, content) => writeFileOf(join(root, path), mode, content),
});

const explained = (error: unknown, dataDir: string): unknown =>
  hasCode(error, 'ENOSPC', 'EDQUOT')
    ? new FlorinError('conflict', `The disk of ${dataDir} is full (${codeOf(error)}). Nothing was restored.`)
    : error;

/**
 * Restores a backup into an empty data directory. Everything is below `restoring` until it has been verified and is on disk,
 * and no Florin starts in a directory that has this. A rename of the data directory itself would be simpler, but it may be
 * a mount.
 */
export const extractBackup = async (
  source: AsyncIterable<Uint8Array>,
  options: {
    readonly dataDir: string;
    /** The text of a master key that the backup does not have; null if it is set elsewhere. */
    readonly masterKey: string | null;
    readonly begin: (facts: BackupFacts) => Promise<void>;
    /** Goes on with what was restored, before it counts. */
    readonly complete?: (root: string, read: BackupRead) => Promise<void>;
    readonly onBytes: (done: number, of: number) => void;
  },
): Promise<BackupRead> => {
  const { dataDir, masterKey, begin, complete, onBytes } = options;
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  await refuseUsed(dataDir);
  const root = join(dataDir, unfinishedRestore);
  // Fails if another restore was faster.
  await mkdir(root, { mode: 0o700 });
  let result: BackupRead;
  try {
    result = await readBackup(source, sinkInto(root, begin), onBytes);
    if (masterKey !== null && !result.facts.hasMasterKey) {
      await mkdir(join(root, dirname(keyPath)), { mode: 0o700 });
      await writeFileAtomically(join(root, keyPath), masterKey, 0o600);
    }
    await complete?.(root, result);
    await giveToOwner(dataDir, root);
    await syncAll(root);
    await syncDirectory(dataDir);
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw explained(error, dataDir);
  }
  for (const name of await readdir(root)) await rename(join(root, name), join(dataDir, name));
  await syncDirectory(dataDir);
  await rmdir(root);
  await syncDirectory(dataDir);
  return result;
};
