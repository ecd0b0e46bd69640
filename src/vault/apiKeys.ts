import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../core/environment.ts';

const prefixes = { sandbox: 'sk_test_', production: 'sk_live_' } as const satisfies Record<Environment, string>;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 32;
const checksumLength = 6;
const form = /^(?:sk_test_|sk_live_)[0-9A-Za-z]{38}$/;

/** CRC-32 in base62. It catches typing errors and lets scanners recognise a leaked key; it does not protect the key. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

// The body has 190 random bits: a plain hash cannot be searched, and a slow one would only cost time.
const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

export type GeneratedApiKey = {
  /** Shown once and never stored. */
  readonly key: string;
  readonly hash: Buffer;
  /** For lists: enough to recognise the key, not to use it. */
  readonly hint: string;
};

export const generateApiKey = (environment: Environment): GeneratedApiKey => {
  let key: string = prefixes[environment];
  for (let i = 0; i < bodyLength; i++) key += alphabet[randomInt(alphabet.length)]!;
  key += checksum(key);
  return { key, hash: hashOf(key), hint: `${prefixes[environment]}…${key.slice(-4)}` };
};

/** Returns the hash in hexadecimal. Null for text that cannot be a key, so that it is refused without the database. */
export const parseApiKey = (text: string): { readonly environment: Environment; readonly hash: string } | null => {
  if (!form.test(text)) return null;
  const signed = text.slice(0, -checksumLength);
  if (checksum(signed) !== text.slice(-checksumLength)) return null;
  return {
    environment: text.startsWith(prefixes.sandbox) ? 'sandbox' : 'production',
    hash: hashOf(text).toString('hex'),
  };
};
