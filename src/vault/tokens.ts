import { createHash, randomBytes } from 'node:crypto';

const hashOf = (token: string, place: string): Buffer => createHash('sha256').update(token).update(place).digest();

/** 256 random bits as text, and the hash to store. The token is valid only for the place that it is made for. */
export const generateToken = (place = ''): { readonly token: string; readonly hash: Buffer } => {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashOf(token, place) };
};

/** Null for text that cannot be a token, so that it is refused without the database. */
export const hashToken = (token: string, place = ''): Buffer | null =>
  /^[A-Za-z0-9_-]{43}$/.test(token) ? hashOf(token, place) : null;
