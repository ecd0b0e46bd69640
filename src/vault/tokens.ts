import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as text, and what is stored of them. */
export const generateToken = (): { readonly token: string; readonly hash: Buffer } => {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: createHash('sha256').update(token).digest() };
};

/** Null for what cannot be a token of ours; no database is needed to refuse it. */
export const hashToken = (token: string): Buffer | null =>
  /^[A-Za-z0-9_-]{43}$/.test(token) ? createHash('sha256').update(token).digest() : null;
