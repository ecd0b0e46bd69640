import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { createByteReader } from '../core/byteReader.ts';
import { FlorinError } from '../core/errors.ts';
import { isCompressed } from '../local/backup/compression.ts';
import { type AgeKey, decryptAge, isAgeFile, isForPassphrase, parseIdentities } from '../vault/ageFile.ts';
import { readKnownPassphrase } from './readPassphrase.ts';

export type KeyOptions = { readonly identity?: string; readonly passphraseFile?: string };

/** Enough to see what it is, and for whom. */
const startBytes = 64;

export const obtainKey = async ({ identity, passphraseFile }: KeyOptions, start: Uint8Array): Promise<AgeKey> => {
  if (identity !== undefined) {
    return { kind: 'identities', identities: parseIdentities(await readFile(identity, 'utf8')) };
  }
  const passphrase =
    passphraseFile !== undefined || isForPassphrase(start) ? await readKnownPassphrase(passphraseFile ?? null) : null;
  if (passphrase !== null) return { kind: 'passphrase', passphrase };
  const how = isForPassphrase(start)
    ? 'Give its passphrase with --passphrase-file'
    : 'Give its key with --identity FILE';
  throw new FlorinError('invalid_request', `The backup is encrypted. ${how}.`);
};

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  yield* path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1024 * 1024 });
}

/** The decrypted bytes of a backup. Asks for its passphrase if nothing was given. */
export async function* openBackup(path: string, options: KeyOptions): AsyncGenerator<Uint8Array> {
  const reader = createByteReader(chunksOf(path));
  const start = await reader.take(startBytes);
  async function* all(): AsyncGenerator<Uint8Array> {
    yield start;
    for (let chunk = await reader.some(1024 * 1024); chunk.length > 0; chunk = await reader.some(1024 * 1024))
      yield chunk;
  }
  if (isAgeFile(start)) yield* decryptAge(await obtainKey(options, start), all());
  else if (isCompressed(start)) yield* all();
  else throw new FlorinError('conflict', `${path} is not a backup of Florin, or its first bytes are damaged.`);
}

export const readingOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--identity <file>', 'File with the secret key of age (AGE-SECRET-KEY-1…).').conflicts(
        'passphraseFile',
      ),
    )
    .option('--passphrase-file <file>', 'The passphrase is the first line of this file.');
