import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Time-based codes (RFC 6238) as every authenticator app supports them: SHA-1, six digits, thirty seconds. */

const stepSeconds = 30;
const digits = 6;
/** Steps accepted before and after the current one: clocks differ, and people type slowly. */
const window = 1n;

export const generateTotpSecret = (): Buffer => randomBytes(20);

export const totpStep = (nowMs: number): bigint => BigInt(Math.floor(nowMs / 1000 / stepSeconds));

export const totpCode = (secret: Uint8Array, step: bigint, length = digits): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(step);
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** length).padStart(length, '0');
};

/** The step of the code, if it is within the window and later than the last one used; null otherwise. */
export const matchTotp = (secret: Uint8Array, code: string, nowMs: number, lastStep: bigint): bigint | null => {
  if (!/^\d{6}$/.test(code)) return null;
  const now = totpStep(nowMs);
  let matched: bigint | null = null;
  for (let step = now - window; step <= now + window; step++) {
    const isRight = timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code));
    if (isRight && step > lastStep) matched = step;
  }
  return matched;
};

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 without padding, as authenticator apps expect. */
export const base32Of = (bytes: Uint8Array): string => {
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  const length = Math.ceil((bytes.length * 8) / 5);
  bits <<= BigInt(length * 5 - bytes.length * 8);
  let text = '';
  for (let i = length - 1; i >= 0; i--) text += base32[Number((bits >> BigInt(i * 5)) & 31n)]!;
  return text;
};

/** The URI in the QR code for authenticator apps. */
export const totpUri = (secret: Uint8Array, email: string, host: string): string => {
  const issuer = `Florin ${host}`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32Of(secret)}&issuer=${encodeURIComponent(issuer)}`;
};
