import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as text, and the hash to store. */
export const generateToken = (): { readonly token: string; readonly hash: Buffer } => {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: createHash('sha256').update(token).digest() };
};

/** Null for text that cannot be a token, so that it is refused without the database. */
export const hashToken = (token: string): Buffer | null =>
  /^[A-Za-z0-9_-]{43}$/.test(token) ? createHash('sha256').update(token).digest() : null;
