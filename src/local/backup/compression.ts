import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { joinBytes } from '../../core/byteReader.ts';
import { codeOf } from '../../core/errorCode.ts';
import { damagedArchive } from './tar.ts';

/**
 * A zstd stream, and after it the SHA-256 of its bytes in a frame that other programs skip. The checksum of zstd covers the
 * content only, so that a few bits of a compressed file may change unnoticed, and it has 32 bits.
 */
const frameStart = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
const frameBytes = frameStart.length + 32;

/** Level 3 is the default of zstd. */
export const compress = () => createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });

export async function* addDigest(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  yield Buffer.concat([frameStart, hash.digest()]);
}

/** Passes on all but the frame at the end, which must match. */
async function* checkDigest(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let held: Uint8Array = new Uint8Array(0);
  for await (const chunk of source) {
    const all = joinBytes([held, chunk]);
    const ready = all.subarray(0, Math.max(0, all.length - frameBytes));
    held = all.subarray(ready.length);
    if (ready.length === 0) continue;
    hash.update(ready);
    yield ready;
  }
  if (!Buffer.concat([frameStart, hash.digest()]).equals(held)) throw damagedArchive();
}

/** Node knows no end of a zstd stream but that of the input, so the digest has been compared when this ends. */
export async function* decompress(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = Readable.from(checkDigest(source), { objectMode: false });
  const plain = createZstdDecompress();
  stream.on('error', error => plain.destroy(error));
  stream.pipe(plain);
  try {
    for await (const chunk of plain) yield chunk as Uint8Array;
  } catch (error) {
    if (/^Z(?:STD)?_/.test(codeOf(error))) throw damagedArchive();
    throw error;
  } finally {
    stream.destroy();
    plain.destroy();
  }
}

/** Whether a file begins as a zstd stream does. */
export const isCompressed = (start: Uint8Array): boolean =>
  Buffer.from(start.subarray(0, 4)).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
