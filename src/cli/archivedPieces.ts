import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { FlorinError } from '../core/errors.ts';
import { addDigest, compress, decompress } from '../local/backup/compression.ts';
import { digestDigits } from '../local/backup/logArchiveFolder.ts';
import { type AgeKey, type AgeLock, decryptAge, encryptAge } from '../vault/ageFile.ts';
import { openTarget } from './writeTarget.ts';

/** The files of an archive of the log: a part of a file, in zstd, in the age format. Many small steps: it shares a process. */

const portionBytes = 128 * 1024;
const unfinished = 'log';

/** Exactly these bytes of a file. */
export async function* rangeOf(path: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from === to) return;
  let left = to - from;
  for await (const chunk of createReadStream(path, { start: from, end: to - 1, highWaterMark: portionBytes })) {
    left -= (chunk as Uint8Array).length;
    yield chunk as Uint8Array;
  }
  if (left !== 0) throw new Error(`${path} has fewer bytes than expected.`);
}

export const digestOf = async (content: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex').slice(0, digestDigits);
};

/** Writes one file of an archive. It has its name once it is whole and on disk. */
export const writePiece = async (
  folder: string,
  content: AsyncIterable<Uint8Array>,
  options: { readonly lock: AgeLock; readonly nameOf: (digest: string) => string; readonly signal: AbortSignal },
): Promise<void> => {
  const { lock, nameOf, signal } = options;
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
  }
  // A process that was killed leaves one.
  await rm(join(folder, `.${unfinished}.partial`), { force: true });
  const target = await openTarget(folder, unfinished);
  try {
    const encrypted = (source: AsyncIterable<Uint8Array>) => encryptAge(lock, addDigest(source));
    await pipeline(hashed, compress(), encrypted, target.stream, { signal });
    await target.finish(nameOf(hash.digest('hex').slice(0, digestDigits)));
  } catch (error) {
    await target.discard();
    throw error;
  }
};

/** The content of one file. Whole and unchanged once it has ended: `digest` is what its name says, if it says anything. */
export async function* readPiece(path: string, key: AgeKey, digest: string | null): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of decompress(decryptAge(key, createReadStream(path)))) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    if (!(error instanceof FlorinError)) throw error;
    throw new FlorinError(error.code, `${path}: ${error.message}`);
  }
  if (digest === null || hash.digest('hex').startsWith(digest)) return;
  throw new FlorinError('conflict', `${path}: The file has the name of another one.`);
}
