import { createCipheriv, randomBytes, scrypt } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** A JSON object. Byte strings are hexadecimal; `data` is base64. docs/operating.md describes it for other programs. */
export type RecoveryEnvelope = {
  readonly format: 'florin-recovery';
  readonly version: 1;
  readonly kdf: {
    readonly name: 'scrypt';
    readonly salt: string;
    readonly N: number;
    readonly r: number;
    readonly p: number;
  };
  readonly cipher: { readonly name: 'aes-256-gcm'; readonly iv: string; readonly tag: string };
  readonly compression: 'gzip';
  readonly data: string;
};

/** OWASP's minimum for scrypt: 128 MiB. It is done once per file, by a person who waits. */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;

const deriveKey = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Some keyboards send an accented letter as two characters, others as one.
    const message = passphrase.normalize('NFKC');
    const options = { ...cost, maxmem: 256 * cost.N * cost.r };
    scrypt(message, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** Compresses and encrypts lines of text. Only the compressed bytes are kept in memory. */
export const sealLines = async (passphrase: string, lines: AsyncIterable<string>): Promise<RecoveryEnvelope> => {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt), iv, { authTagLength: 16 });
  const sealed: Buffer[] = [];
  await pipeline(lines, createGzip(), cipher, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) sealed.push(chunk);
  });
  return {
    format: 'florin-recovery',
    version: 1,
    kdf: { name: 'scrypt', salt: salt.toString('hex'), ...cost },
    cipher: { name: 'aes-256-gcm', iv: iv.toString('hex'), tag: cipher.getAuthTag().toString('hex') },
    compression: 'gzip',
    data: Buffer.concat(sealed).toString('base64'),
  };
};
