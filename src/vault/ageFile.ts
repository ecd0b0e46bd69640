import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient, Stanza } from 'age-encryption';
import { type ByteReader, createByteReader, joinBytes } from '../core/byteReader.ts';
import { FlorinError } from '../core/errors.ts';

/**
 * Files in the age format (age-encryption.org/v1). The package makes and reads their headers: keys, recipients, MACs. The
 * content is a stream of our own, on Node's cipher: the package needs four times the CPU time.
 */

/** Who can open a file. Recipients are `age1…`. */
export type AgeLock =
  | { readonly kind: 'recipients'; readonly recipients: readonly string[] }
  | { readonly kind: 'passphrase'; readonly passphrase: string };

/** What opens it. Identities are `AGE-SECRET-KEY-1…`. */
export type AgeKey =
  | { readonly kind: 'identities'; readonly identities: readonly string[] }
  | { readonly kind: 'passphrase'; readonly passphrase: string };

const cipher = 'chacha20-poly1305';
const [chunkBytes, tagBytes, nonceBytes] = [65_536, 16, 16];
const firstLine = 'age-encryption.org/v1\n';
/** age itself writes a few hundred bytes for each recipient. */
const longestHeaderBytes = 65_536;

/** 256 MiB, as age does. It is done once per file. */
const workFactor = 18;
/** A file from elsewhere may ask for more, but not for all memory: 1 GiB. */
const highestWorkFactor = 20;

const damaged = (): FlorinError =>
  new FlorinError('conflict', 'The file is damaged: its encrypted content was changed or cut off.');

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');

const wrapKeyOf = (passphrase: string, salt: Uint8Array, logN: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const salted = joinBytes([Buffer.from('age-encryption.org/v1/scrypt'), salt]);
    const options = { N: 2 ** logN, r: 8, p: 1, maxmem: 2 ** (logN + 11) };
    scrypt(passphrase, salted, 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

const sealChunk = (key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer => {
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  return Buffer.concat([sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
};

/** Null if the key or a byte is wrong. */
const openChunk = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Buffer | null => {
  if (sealed.length < tagBytes) return null;
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  opening.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plain = opening.update(sealed.subarray(0, sealed.length - tagBytes));
  try {
    opening.final();
    return plain;
  } catch {
    return null;
  }
};

/** A counter, and a flag in the last byte that marks the last chunk: a file that was cut off cannot be opened whole. */
const createNonces = (): ((isLast: boolean) => Buffer) => {
  let count = 0n;
  return isLast => {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(count++, 3);
    nonce[11] = isLast ? 1 : 0;
    return nonce;
  };
};

const zeroNonce = Buffer.alloc(12);
const payloadKey = (fileKey: Uint8Array, nonce: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32));

const passphraseRecipient = (passphrase: string) => ({
  async wrapFileKey(fileKey: Uint8Array): Promise<Stanza[]> {
    const salt = randomBytes(16);
    const wrapped = sealChunk(await wrapKeyOf(passphrase, salt, workFactor), zeroNonce, fileKey);
    return [new Stanza(['scrypt', base64(salt), String(workFactor)], wrapped)];
  },
});

const passphraseIdentity = (passphrase: string) => ({
  async unwrapFileKey(stanzas: Stanza[]): Promise<Uint8Array | null> {
    const [stanza] = stanzas;
    const [kind, salt = '', factor = ''] = stanza?.args ?? [];
    // The format allows nothing beside a passphrase.
    if (stanza === undefined || stanzas.length !== 1 || kind !== 'scrypt') return null;
    const logN = /^[1-9]\d?$/.test(factor) ? Number(factor) : 0;
    if (logN === 0 || logN > highestWorkFactor) return null;
    return openChunk(await wrapKeyOf(passphrase, Buffer.from(salt, 'base64'), logN), zeroNonce, stanza.body);
  },
});

/** The package encrypts nothing; only its header is kept. The key of the file is taken from it as a recipient takes it. */
const makeHeader = async (lock: AgeLock): Promise<{ header: Uint8Array; fileKey: Buffer }> => {
  let fileKey = Buffer.alloc(0);
  const encrypter = new Encrypter();
  encrypter.addRecipient({
    wrapFileKey(key) {
      fileKey = Buffer.from(key);
      return [];
    },
  });
  if (lock.kind === 'passphrase') encrypter.addRecipient(passphraseRecipient(lock.passphrase));
  else for (const recipient of lock.recipients) encrypter.addRecipient(recipient);
  const empty = await encrypter.encrypt(new Uint8Array(0));
  return { header: empty.subarray(0, empty.length - nonceBytes - tagBytes), fileKey };
};

/** Encrypts a stream. Holds one chunk of 64 KiB in memory. */
export async function* encryptAge(lock: AgeLock, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { header, fileKey } = await makeHeader(lock);
  const nonce = randomBytes(nonceBytes);
  yield joinBytes([header, nonce]);
  const key = payloadKey(fileKey, nonce);
  const nextNonce = createNonces();
  const reader = createByteReader(source);
  let chunk = await reader.take(chunkBytes);
  for (;;) {
    const following = await reader.take(chunkBytes);
    // The last chunk may be full, but only a file without content ends with an empty one.
    const isLast = following.length === 0;
    yield sealChunk(key, nextNonce(isLast), chunk);
    if (isLast) return;
    chunk = following;
  }
}

const readLine = async (reader: ByteReader, most: number): Promise<string> => {
  const bytes: number[] = [];
  while (bytes.length < most) {
    const [byte] = await reader.take(1);
    if (byte === undefined) throw damaged();
    bytes.push(byte);
    if (byte === 10) return Buffer.from(bytes).toString('latin1');
  }
  throw damaged();
};

const readHeader = async (reader: ByteReader): Promise<string> => {
  let header = '';
  for (;;) {
    const line = await readLine(reader, longestHeaderBytes - header.length);
    header += line;
    if (header.length === line.length && line !== firstLine) throw damaged();
    if (line.startsWith('--- ')) return header;
  }
};

export const isAgeFile = (start: Uint8Array): boolean =>
  Buffer.from(start.subarray(0, firstLine.length)).toString('latin1') === firstLine;

/** Whether it was encrypted with a passphrase. The first bytes of the file tell. */
export const isForPassphrase = (start: Uint8Array): boolean =>
  Buffer.from(start).toString('latin1').startsWith(`${firstLine}-> scrypt `);

/** The package tells a wrong key from a changed header by its words alone, so the message names both. */
const openHeader = async (key: AgeKey, header: string): Promise<Uint8Array> => {
  const decrypter = new Decrypter();
  if (key.kind === 'passphrase') decrypter.addIdentity(passphraseIdentity(key.passphrase));
  else for (const identity of key.identities) decrypter.addIdentity(identity);
  try {
    return await decrypter.decryptHeader(Buffer.from(header, 'latin1'));
  } catch {
    const needsPassphrase = isForPassphrase(Buffer.from(header, 'latin1'));
    if (needsPassphrase !== (key.kind === 'passphrase')) {
      const wanted = needsPassphrase ? 'a passphrase' : 'a public key: give the file with its identity';
      throw new FlorinError('conflict', `The file is encrypted with ${wanted}.`);
    }
    const what = key.kind === 'passphrase' ? 'passphrase is wrong' : 'identity is not the one it was encrypted for';
    throw new FlorinError('conflict', `The file cannot be opened: the ${what}, or its first bytes are damaged.`);
  }
};

/** Decrypts a stream. What it yields is authentic, but a file that was cut off is noticed only at its end. */
export async function* decryptAge(key: AgeKey, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = createByteReader(source);
  const fileKey = await openHeader(key, await readHeader(reader));
  const streamKey = payloadKey(fileKey, await reader.take(nonceBytes));
  const nextNonce = createNonces();
  let chunk = await reader.take(chunkBytes + tagBytes);
  for (let isFirst = true; ; isFirst = false) {
    const following = await reader.take(chunkBytes + tagBytes);
    const isLast = following.length === 0;
    const plain = openChunk(streamKey, nextNonce(isLast), chunk);
    if (plain === null || (plain.length === 0 && !isFirst)) throw damaged();
    yield plain;
    if (isLast) return;
    chunk = following;
  }
}

export const isRecipient = (text: string): boolean => {
  if (!text.startsWith('age1')) return false;
  try {
    new Encrypter().addRecipient(text);
    return true;
  } catch {
    return false;
  }
};

/** The identities of a file that age-keygen or Florin wrote: one a line, beside comments. */
export const parseIdentities = (text: string): readonly string[] => {
  const lines = text.split('\n').map(line => line.trim());
  const identities = lines.filter(line => line !== '' && !line.startsWith('#'));
  const trial = new Decrypter();
  try {
    for (const identity of identities) trial.addIdentity(identity);
  } catch {
    throw new FlorinError(
      'invalid_request',
      'The identity file must contain a line that begins with AGE-SECRET-KEY-1.',
    );
  }
  if (identities.length > 0) return identities;
  throw new FlorinError('invalid_request', 'The identity file is empty.');
};

export const makeIdentity = async (): Promise<{ identity: string; recipient: string }> => {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
};
