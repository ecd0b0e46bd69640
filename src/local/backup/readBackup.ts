import { FlorinError } from '../../core/errors.ts';
import { parseSegment } from '../../core/logSegment.ts';
import { type ArchiveSink, readArchive } from './archive.ts';
import type { BackupEnd, BackupFacts } from './backupItems.ts';
import { decompress } from './compression.ts';
import { backupEnd, restoredMark } from './dataFiles.ts';
import { damagedArchive } from './tar.ts';

const factsBytes = 65_536;

const isFacts = (value: unknown): value is BackupFacts => {
  const { format, backupAt, bytes } = (value ?? {}) as Record<string, unknown>;
  return format === 'florin-backup' && typeof backupAt === 'string' && typeof bytes === 'number';
};

const isEnd = (value: unknown): value is BackupEnd => {
  const { endedAt, log } = (value ?? {}) as Record<string, unknown>;
  const { folder, nextSegment, journalBytes } = (log ?? {}) as Record<string, unknown>;
  // They become parts of paths.
  const isPlace = /^[\w-]+$/.test(String(folder)) && parseSegment(String(nextSegment)) !== null;
  const isLog = isPlace && Number.isSafeInteger(journalBytes);
  return typeof endedAt === 'string' && (log === null || isLog);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw damagedArchive();
  }
};

const parseFacts = (text: string): BackupFacts => {
  const facts = parseJson(text);
  if (!isFacts(facts)) throw damagedArchive();
  if (facts.version === 1) return facts;
  throw new FlorinError(
    'conflict',
    `The backup was made by a newer Florin (${facts.florin}). Restore it with that one.`,
  );
};

/** What is done with the files of a backup. */
export type BackupSink = ArchiveSink & {
  /** Comes first. May refuse by an error. */
  begin(facts: BackupFacts): Promise<void>;
};

const textOf = async (content: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

export type BackupRead = {
  readonly facts: BackupFacts;
  /** Null if an earlier Florin made it. */
  readonly end: BackupEnd | null;
  readonly files: number;
  readonly bytes: number;
};

/** Reads a backup that is not encrypted, or not any more, to its end. It is whole and unchanged if this returns. */
export const readBackup = async (
  source: AsyncIterable<Uint8Array>,
  sink: BackupSink,
  onBytes: (done: number, of: number) => void = () => {},
): Promise<BackupRead> => {
  let facts: BackupFacts | null = null;
  let end: BackupEnd | null = null;
  let bytes = 0;
  async function* counted(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      bytes += chunk.length;
      onBytes(bytes, facts?.bytes ?? 0);
      yield chunk;
    }
  }
  const { files } = await readArchive(decompress(source), {
    async directory(header) {
      if (facts === null) throw damagedArchive();
      await sink.directory(header);
    },
    async file(header, content) {
      if (facts !== null && header.path === backupEnd) {
        const told = header.size > factsBytes ? null : parseJson(await textOf(content));
        if (!isEnd(told)) throw damagedArchive();
        end = told;
        return;
      }
      if (facts !== null) return sink.file(header, counted(content));
      if (header.path !== restoredMark || header.size > factsBytes) throw damagedArchive();
      const text = await textOf(content);
      facts = parseFacts(text);
      await sink.begin(facts);
      await sink.file(
        header,
        (async function* () {
          yield Buffer.from(text);
        })(),
      );
    },
  });
  if (facts === null) throw damagedArchive();
  return { facts, end, files, bytes };
};

/** Reads everything and keeps nothing. */
export const verifyingSink: BackupSink = {
  begin: async () => {},
  directory: async () => {},
  async file(_header, content) {
    for await (const _chunk of content);
  },
};
