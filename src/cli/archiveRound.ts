import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { formatSegment, type LogSegment, segmentBytes } from '../core/logSegment.ts';
import { clusterPath, lateFile } from '../local/backup/dataFiles.ts';
import {
  type ArchivedLog,
  journalFile,
  partFile,
  readArchiveFolder,
  segmentFile,
} from '../local/backup/logArchiveFolder.ts';
import type { LogPosition, LogServer } from '../storage/logArchive.ts';
import type { AgeLock } from '../vault/ageFile.ts';
import { digestOf, rangeOf, writePiece } from './archivedPieces.ts';
import { sizeOf } from './disk.ts';

/** The files of the archive say something else than the log: a copy of this database writes to the same folder. */
export class OtherHistory extends FlorinError {
  constructor(file: string) {
    super('conflict', `${file} has another content than this database's log. Does a copy of it write there, too?`);
  }
}

export type ArchivePlace = {
  readonly dataDir: string;
  /** The folder of this archive. */
  readonly folder: string;
  readonly lock: AgeLock;
  readonly signal: AbortSignal;
};

const mostAtOnce = 32;

/** The length of the whole lines: a crash may cut the last one, which is then written anew. */
const wholeLines = async (path: string, from: number): Promise<number> => {
  const size = await sizeOf(path);
  if (size <= from) return size;
  const file = await open(path, 'r');
  try {
    const tail = Buffer.alloc(Math.min(size - from, 1024 * 1024));
    await file.read(tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(10);
    return end < 0 ? from : size - tail.length + end + 1;
  } finally {
    await file.close();
  }
};

/** Adds what the local chain has written since. The database may name its blocks, so it comes before the log. */
export const archiveJournal = async (
  { dataDir, folder, lock, signal }: ArchivePlace,
  archived: ArchivedLog['journal'],
): Promise<void> => {
  const path = join(dataDir, lateFile);
  const from = archived.at(-1)?.to ?? (await wholeLines(path, 0));
  const to = await wholeLines(path, from);
  if (to < from) throw new OtherHistory(archived.at(-1)?.file ?? lateFile);
  if (to === from && archived.length > 0) return;
  const nameOf = (digest: string): string => journalFile(from, to, digest);
  await writePiece(folder, rangeOf(path, from, to), { lock, nameOf, signal });
};

const existing = ({ segments }: ArchivedLog, { timeline, number }: LogSegment) =>
  segments.find(({ segment }) => segment.timeline === timeline && segment.number === number);

const archiveSegment = async (place: ArchivePlace, archived: ArchivedLog, segment: LogSegment): Promise<void> => {
  const { dataDir, folder, lock, signal } = place;
  const path = join(dataDir, clusterPath, 'pg_wal', formatSegment(segment));
  const before = existing(archived, segment);
  if (before === undefined) {
    const nameOf = (digest: string): string => segmentFile(segment, digest);
    await writePiece(folder, rangeOf(path, 0, segmentBytes), { lock, nameOf, signal });
  } else if ((await digestOf(rangeOf(path, 0, segmentBytes))) !== before.digest) {
    // After a crash the server names segments again that are archived already. These have not changed.
    throw new OtherHistory(before.file);
  }
  await rm(join(folder, partFile(segment)), { force: true });
};

/** The part of the segment that the server is writing. */
const archivePart = async (place: ArchivePlace, archived: ArchivedLog, { timeline, flushed }: LogPosition) => {
  const { dataDir, folder, lock, signal } = place;
  const segment = { timeline, number: Math.floor(flushed / segmentBytes) };
  const path = join(dataDir, clusterPath, 'pg_wal', formatSegment(segment));
  const whole = existing(archived, segment);
  if (whole !== undefined) throw new OtherHistory(whole.file);
  const bytes = flushed % segmentBytes;
  if (bytes === 0) return;
  await writePiece(folder, rangeOf(path, 0, bytes), { lock, nameOf: () => partFile(segment), signal });
};

/** Finished segments; how many there are. */
const finishedSince = ({ keptFrom, flushed, timeline }: LogPosition): LogSegment[] => {
  const [from, to] = [Math.floor(keptFrom / segmentBytes), Math.floor(flushed / segmentBytes)];
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => ({ timeline, number: from + at }));
};

/**
 * Archives what the server has finished and, if asked, the part of what it is writing. The archive then has everything
 * from before `position` was read, unless `more` is true.
 */
export const archiveRound = async (
  place: ArchivePlace,
  server: LogServer,
  position: LogPosition & { readonly archive: string },
  withPart: boolean,
): Promise<{ readonly more: boolean }> => {
  const finished = finishedSince(position);
  if (finished.length === 0 && !withPart) return { more: false };
  const archived = await readArchiveFolder(place.folder).catch(error => {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    const how = 'Mount its disk. If it was deleted, create it again, empty, and take a backup.';
    throw new FlorinError('conflict', `The folder ${place.folder} is not there. ${how}`);
  });
  await archiveJournal(place, archived.journal);
  for (const segment of finished.slice(0, mostAtOnce)) {
    await archiveSegment(place, archived, segment);
    await server.release(position.archive, (segment.number + 1) * segmentBytes);
  }
  const more = finished.length > mostAtOnce;
  if (withPart && !more) await archivePart(place, archived, position);
  return { more };
};
