import { open, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FlorinError } from '../core/errors.ts';
import { type LogSegment, parseSegment, segmentBytes } from '../core/logSegment.ts';
import type { LogContinuation } from '../local/backup/backupItems.ts';
import { lateFile, restoredMark } from '../local/backup/dataFiles.ts';
import { type ArchivedLog, gapsIn, readArchiveFolder } from '../local/backup/logArchiveFolder.ts';
import { names } from '../local/postgres/createCluster.ts';
import { LogTooShort, recoverCluster } from '../local/postgres/recoverCluster.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import { type Recovered, readRecovered } from '../storage/logArchive.ts';
import type { AgeKey } from '../vault/ageFile.ts';
import { readPiece } from './archivedPieces.ts';
import { sizeOf } from './disk.ts';

export type PlayOrder = {
  /** What was restored of the backup. */
  readonly root: string;
  /** The directory with the backup and the folder of the log. */
  readonly directory: string;
  readonly continuation: LogContinuation;
  /** Null plays everything. */
  readonly until: Date | null;
  readonly key: AgeKey;
  readonly signal: AbortSignal;
  readonly onBytes: (done: number, of: number) => void;
};

async function* padded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = segmentBytes;
  for await (const chunk of content) {
    left -= chunk.length;
    yield chunk;
  }
  yield Buffer.alloc(left);
}

/** Finds the content of a segment, decrypted as it is read. */
const createOpener = (folder: string, { segments, part }: ArchivedLog, order: PlayOrder) => {
  const { key, continuation, onBytes } = order;
  const from = parseSegment(continuation.nextSegment)!;
  const last = part?.segment.number ?? segments.at(-1)?.segment.number ?? from.number;
  const find = ({ timeline, number }: LogSegment) =>
    segments.find(({ segment }) => segment.timeline === timeline && segment.number === number);
  return (segment: LogSegment): AsyncIterable<Uint8Array> | null => {
    const whole = find(segment);
    const isPart = part?.segment.timeline === segment.timeline && part.segment.number === segment.number;
    if (whole === undefined && !isPart) return null;
    onBytes((segment.number - from.number) * segmentBytes, (last - from.number + 1) * segmentBytes);
    const path = join(folder, whole?.file ?? part!.file);
    return whole ? readPiece(path, key, whole.digest) : padded(readPiece(path, key, null));
  };
};

/** The database may know blocks of the local chain that the backup does not have. Its archived journal has them all. */
const extendJournal = async (folder: string, { journal }: ArchivedLog, { root, key }: PlayOrder): Promise<void> => {
  const path = join(root, lateFile);
  for (const { file, from, to, digest } of journal) {
    const size = await sizeOf(path);
    if (to <= size) continue;
    if (from > size) {
      console.error(`A part of the local chain's journal is missing before ${file}: the sandbox will not go on.`);
      return;
    }
    const target = await open(path, 'a', 0o600);
    try {
      let at = from;
      for await (const chunk of readPiece(join(folder, file), key, digest)) {
        await target.writeFile(chunk.subarray(Math.min(Math.max(0, size - at), chunk.length)));
        at += chunk.length;
      }
    } finally {
      await target.close();
    }
  }
};

/**
 * From when on the chains are read again. The clocks of blocks differ from the database's, and a transaction may get its
 * place in the log a moment after its time.
 */
const marginMs = 600_000;

/** The start that declares the restore must know how far the database goes. */
const moveMark = async (root: string, recoveredTo: Date): Promise<void> => {
  const path = join(root, restoredMark);
  const facts = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const backupAt = new Date(recoveredTo.getTime() - marginMs).toISOString();
  const moved = { ...facts, backupAt, baseAt: facts.backupAt, recoveredTo: recoveredTo.toISOString() };
  await writeFileAtomically(path, `${JSON.stringify(moved)}\n`, 0o600);
};

export type Played = { readonly recoveredTo: Date; readonly masterKeyFingerprint: Recovered['masterKeyFingerprint'] };

/** Plays the archived log on a restored backup, up to a time or to its end. `endedAt`: when the backup ended. */
export const playLog = async (order: PlayOrder, endedAt: Date): Promise<Played> => {
  const { root, directory, continuation, until, signal } = order;
  const folder = join(directory, continuation.folder);
  const archived = await readArchiveFolder(folder).catch(error => {
    throw new FlorinError('conflict', `The archived log cannot be read from ${folder}: ${error.message}`);
  });
  const from = parseSegment(continuation.nextSegment)!;
  const gaps = gapsIn(archived, from);
  const lacks = gaps.length === 0 ? '' : ` In ${folder}, ${gaps[0]}.`;
  if (until === null && gaps.length > 0) {
    throw new FlorinError('conflict', `The archived log has a gap.${lacks} Give a time from before it.`);
  }
  const openSegment = createOpener(folder, archived, order);
  const recovery = { directory: await realpath(root), until, from, openSegment, signal };
  const recovered = await recoverCluster(recovery, superuser =>
    readRecovered({ ...superuser, database: names.database }),
  ).catch(error => {
    if (!(error instanceof LogTooShort)) throw error;
    throw new FlorinError(
      'conflict',
      `The archived log ends before ${until!.toISOString()}.${lacks} Give an earlier time, or --until latest for all of it.`,
    );
  });
  await extendJournal(folder, archived, order);
  const recoveredTo = recovered.replayedAt ?? endedAt;
  await moveMark(root, recoveredTo);
  return { recoveredTo, masterKeyFingerprint: recovered.masterKeyFingerprint };
};
