import { createHash } from 'node:crypto';
import { type ByteReader, createByteReader } from '../../core/byteReader.ts';
import { FlorinError } from '../../core/errors.ts';
import { blockBytes, damagedArchive, paddingOf, readTarHeader, type TarHeader, writeTarHeader } from './tar.ts';

/** A tar archive whose first file says what it is, and whose last one lists the checksums of all others. */

export type ArchiveItem =
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number }
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly mode: number;
      readonly size: number;
      /** Exactly `size` bytes. */
      readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
    };

type Line = TarHeader & { readonly sha256: string | null };

/** It is in the archive only. */
const manifestPath = 'manifest.jsonl';
/** A database of a terabyte has a line for each of a few thousand gigabytes and tables. */
const largestManifest = 256 * 1024 * 1024;
const portionBytes = 1024 * 1024;

const lineOf = ({ path, kind, mode, size, sha256 }: Line): string => JSON.stringify({ path, kind, mode, size, sha256 });

export const textItem = (path: string, text: string, mode = 0o600): ArchiveItem => {
  const bytes = Buffer.from(text);
  return { kind: 'file', path, mode, size: bytes.length, content: [bytes] };
};

/** The bytes of the archive. `onBytes` is told how much of the files has been read. */
export async function* writeArchive(
  items: AsyncIterable<ArchiveItem>,
  { seconds, onBytes }: { readonly seconds: number; readonly onBytes: (count: number) => void },
): AsyncGenerator<Uint8Array> {
  const lines: string[] = [];
  for await (const item of items) {
    const { path, kind, mode } = item;
    const size = kind === 'file' ? item.size : 0;
    yield writeTarHeader({ path, kind, mode, size }, seconds);
    if (item.kind === 'directory') {
      lines.push(lineOf({ path, kind, mode, size, sha256: null }));
      continue;
    }
    const hash = createHash('sha256');
    let written = 0;
    for await (const chunk of item.content) {
      hash.update(chunk);
      written += chunk.length;
      onBytes(chunk.length);
      yield chunk;
    }
    if (written !== size) throw new Error(`${path} has ${written} bytes instead of ${size}.`);
    yield Buffer.alloc(paddingOf(size));
    lines.push(lineOf({ path, kind, mode, size, sha256: hash.digest('hex') }));
  }
  const manifest = Buffer.from(`${lines.join('\n')}\n`);
  yield writeTarHeader({ path: manifestPath, kind: 'file', mode: 0o600, size: manifest.length }, seconds);
  yield manifest;
  yield Buffer.alloc(paddingOf(manifest.length) + 2 * blockBytes);
}

/** Takes what an archive contains, in order. */
export type ArchiveSink = {
  directory(header: TarHeader): Promise<void>;
  /** Must read all of the content. */
  file(header: TarHeader, content: AsyncIterable<Uint8Array>): Promise<void>;
};

async function* contentOf(reader: ByteReader, size: number, onChunk: (chunk: Uint8Array) => void) {
  for (let left = size; left > 0; ) {
    const chunk = await reader.some(Math.min(left, portionBytes));
    if (chunk.length === 0) throw damagedArchive();
    onChunk(chunk);
    yield chunk;
    left -= chunk.length;
  }
}

const expectZeros = (bytes: Uint8Array, count: number): void => {
  if (bytes.length !== count || bytes.some(byte => byte !== 0)) throw damagedArchive();
};

/** Paths of the archive become paths of a directory, so none may lead out of it. */
const isInside = (path: string): boolean =>
  path !== '' && path.split('/').every(part => part !== '' && part !== '.' && part !== '..');

const compare = (manifest: string, found: readonly string[]): void => {
  const wanted = manifest.split('\n').slice(0, -1);
  for (const [at, line] of found.entries()) {
    if (line === wanted[at]) continue;
    const { path } = JSON.parse(line) as Line;
    throw new FlorinError('conflict', `The backup is damaged: ${path} does not match its checksum.`);
  }
  if (wanted.length !== found.length) throw damagedArchive();
};

/** Reads an archive to its end. Only when this returns has everything been verified. */
export const readArchive = async (source: AsyncIterable<Uint8Array>, sink: ArchiveSink): Promise<{ files: number }> => {
  const reader = createByteReader(source);
  const found: string[] = [];
  let isCompared = false;
  for (;;) {
    const header = readTarHeader(await reader.take(blockBytes));
    if (header === null) break;
    if (isCompared || !isInside(header.path)) throw damagedArchive();
    if (header.path === manifestPath) {
      if (header.size > largestManifest) throw damagedArchive();
      compare(Buffer.from(await reader.take(header.size)).toString('utf8'), found);
      isCompared = true;
    } else if (header.kind === 'directory') {
      await sink.directory(header);
      found.push(lineOf({ ...header, sha256: null }));
    } else {
      const hash = createHash('sha256');
      await sink.file(
        header,
        contentOf(reader, header.size, chunk => hash.update(chunk)),
      );
      found.push(lineOf({ ...header, sha256: hash.digest('hex') }));
    }
    const padding = paddingOf(header.size);
    expectZeros(await reader.take(padding), padding);
  }
  if (!isCompared) throw damagedArchive();
  expectZeros(await reader.take(blockBytes + 1), blockBytes);
  return { files: found.length };
};
