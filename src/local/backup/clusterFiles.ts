import { type FileHandle, lstat, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';
import { FlorinError } from '../../core/errors.ts';
import type { ArchiveItem } from './archive.ts';

type Found = {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly mode: number;
  readonly size: number;
};

/** What pg_basebackup leaves out, too: a server makes it anew. Of these directories only the directory is kept. */
const emptied = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const leftOut =
  /(?:^|\/)(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?|tablespace_map(?:\.old)?|backup_manifest|current_logfiles(?:\.tmp)?|postgresql\.auto\.conf\.tmp|pg_internal\.init.*|pgsql_tmp.*)$/;
export const controlFile = 'global/pg_control';

const portionBytes = 1024 * 1024;

/** Files and directories of a running cluster, directories first. One that goes away meanwhile is left out. */
export const listCluster = async (cluster: string, below = ''): Promise<Found[]> => {
  const entries = await readdir(join(cluster, below), { withFileTypes: true }).catch(error => {
    if (hasCode(error, 'ENOENT') && below !== '') return [];
    throw error;
  });
  const found: Found[] = [];
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (leftOut.test(path)) continue;
    if (entry.isSymbolicLink()) {
      throw new FlorinError(
        'conflict',
        `${join(cluster, path)} is a link. Florin backs up only what lies in its data directory.`,
      );
    }
    const status = await lstat(join(cluster, path)).catch(error => {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    });
    if (status?.isDirectory()) {
      found.push({ path, kind: 'directory', mode: status.mode & 0o777, size: 0 });
      if (!emptied.has(path)) found.push(...(await listCluster(cluster, path)));
    } else if (status?.isFile()) {
      found.push({ path, kind: 'file', mode: status.mode & 0o777, size: status.size });
    }
  }
  return found;
};

/**
 * As many bytes as the file had when it was opened. PostgreSQL goes on writing to it: what is torn or missing is repaired
 * from the log when the backup is first started, and so is a file that became shorter and ends in zeros here.
 */
async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(portionBytes, size - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      const chunk = bytesRead === 0 ? buffer.fill(0) : buffer.subarray(0, bytesRead);
      at += chunk.length;
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

/** Null if the file is not there any more. */
export const fileItem = async (from: string, path: string, mode: number): Promise<ArchiveItem | null> => {
  const file = await open(from, 'r').catch(error => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (file === null) return null;
  const { size } = await file.stat();
  return { kind: 'file', path, mode, size, content: contentOf(file, size) };
};

const controlReads = 100;

/** Two equal reads in a row: the server writes the file as a whole, and no log repairs a torn one. */
export const readControlFile = async (cluster: string): Promise<Buffer> => {
  const path = join(cluster, controlFile);
  let before = await readFile(path);
  for (let read = 0; read < controlReads; read++) {
    const now = await readFile(path);
    if (now.equals(before)) return now;
    before = now;
  }
  throw new FlorinError('conflict', `${path} changes all the time.`);
};
