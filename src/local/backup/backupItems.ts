import { join } from 'node:path';
import { FlorinError } from '../../core/errors.ts';
import { type ArchiveItem, textItem } from './archive.ts';
import { controlFile, fileItem, listCluster, readControlFile } from './clusterFiles.ts';
import { backupEnd, clusterPath, earlyFiles, keyPath, lateFile, restoredMark } from './dataFiles.ts';

/** The first file of a backup. */
export type BackupFacts = {
  readonly format: 'florin-backup';
  readonly version: 1;
  /** When it began: everything from before is in it. */
  readonly backupAt: string;
  readonly florin: string;
  readonly postgres: number;
  /** Which master key the restored database needs; null if none is known. It does not reveal the key. */
  readonly masterKeyFingerprint: string | null;
  readonly hasMasterKey: boolean;
  /** About how many bytes the files have. */
  readonly bytes: number;
};

/** Where the log goes on after a backup. */
export type LogContinuation = {
  /** The name of the folder, beside the backup. */
  readonly folder: string;
  /** The segment after those of the backup. */
  readonly nextSegment: string;
  /** At least so much of the journal of the local chain is in the backup. */
  readonly journalBytes: number;
};

/** What is known only at the end of a backup. */
export type BackupEnd = {
  /** Nothing from after it is in the backup. From then on, the archived log can be played on it. */
  readonly endedAt: string;
  /** Null if the log was not archived. */
  readonly log: LogContinuation | null;
};

/** What the caller knows, and how it asks the server. */
export type BackupSource = {
  readonly dataDir: string;
  readonly facts: Omit<BackupFacts, 'format' | 'version' | 'bytes'>;
  /** The text of keys/master, if it goes along. */
  readonly masterKey: string | null;
  /** Ends the backup in the server. Returns its label, and the segments of its log that belong to the backup. */
  finish(): Promise<{ label: string; segments: readonly string[]; end: BackupEnd }>;
  /** Told once how much there is to read. */
  onSize(bytes: number): void;
};

const privateMode = 0o600;
const privateDirectory = (path: string): ArchiveItem => ({ kind: 'directory', path, mode: 0o700 });

async function* dataFiles(dataDir: string, paths: readonly string[]): AsyncGenerator<ArchiveItem> {
  for (const path of paths) {
    const item = await fileItem(join(dataDir, path), path, privateMode);
    if (item !== null) yield item;
  }
}

/** A server that is out of room may have dropped what it promised to keep. */
async function* segmentItems(cluster: string, segments: readonly string[]): AsyncGenerator<ArchiveItem> {
  for (const name of segments) {
    const item = await fileItem(join(cluster, 'pg_wal', name), `${clusterPath}/pg_wal/${name}`, privateMode);
    if (item === null) throw new FlorinError('conflict', `The server has removed ${name} of its log. Try again.`);
    yield item;
  }
}

/**
 * The files of a backup, in order. The server writes to them meanwhile: its log from the beginning to the end, and the
 * label that says where to begin, make them consistent when they are first started.
 */
export async function* backupItems(source: BackupSource): AsyncGenerator<ArchiveItem> {
  const { dataDir, facts, masterKey } = source;
  const cluster = join(dataDir, clusterPath);
  const listed = await listCluster(cluster);
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  source.onSize(bytes);
  const about: BackupFacts = { format: 'florin-backup', version: 1, ...facts, bytes };
  yield textItem(restoredMark, `${JSON.stringify(about)}\n`);
  yield privateDirectory('postgres');
  yield privateDirectory(clusterPath);
  for (const { path, kind, mode } of listed) {
    if (kind === 'directory') yield { kind, path: `${clusterPath}/${path}`, mode };
  }
  for (const { path, kind, mode } of listed) {
    if (kind === 'directory' || path === controlFile) continue;
    const item = await fileItem(join(cluster, path), `${clusterPath}/${path}`, mode);
    if (item !== null) yield item;
  }
  const control = await readControlFile(cluster);
  const controlPath = `${clusterPath}/${controlFile}`;
  yield { kind: 'file', path: controlPath, mode: privateMode, size: control.length, content: [control] };
  yield* dataFiles(dataDir, earlyFiles);
  if (masterKey !== null) {
    yield privateDirectory('keys');
    yield textItem(keyPath, masterKey);
  }
  const { label, segments, end } = await source.finish();
  yield* segmentItems(cluster, segments);
  yield* dataFiles(dataDir, [lateFile]);
  yield textItem(`${clusterPath}/backup_label`, label);
  yield textItem(backupEnd, `${JSON.stringify(end)}\n`);
}
