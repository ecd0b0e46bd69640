import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { createLine } from './line.ts';

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;

/** Too many passwords are being hashed at once. */
export class TooManyPasswords extends Error {
  readonly code = 'too_many_passwords';
}

/**
 * Whose password is hashed first. `known`: of a device or session that is theirs, or a new password. `new`: from an
 * address without failures. `failed`: from an address that guessed wrong before.
 */
export const ranks = ['known', 'new', 'failed'] as const;
export type Rank = (typeof ranks)[number];

/** Each hash takes 19 MiB and a core for a while: a flood of sign-ins must not starve payments. */
const line = createLine<Rank>({
  ranks,
  places: 2,
  maxWaiting: 20,
  full: () => new TooManyPasswords('Too many people are signing in.'),
});

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number };

const derive = async (
  password: string,
  nonce: Buffer,
  { memory, passes, parallelism }: Cost,
  rank: Rank,
): Promise<Buffer> => {
  await line.enter(rank);
  try {
    // Some keyboards send an accented letter as two characters, others as one.
    const message = password.normalize('NFKC');
    return await new Promise<Buffer>((resolve, reject) => {
      const parameters = { message, nonce, memory, passes, parallelism, tagLength };
      argon2('argon2id', parameters, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    line.leave();
  }
};

/** Returns the PHC text form. It holds the parameters, so old hashes stay readable when they change. */
export const hashPassword = async (password: string): Promise<string> => {
  const nonce = randomBytes(16);
  const key = await derive(password, nonce, cost, 'known');
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(key)}`;
};

const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22,86})\$([A-Za-z0-9+/]{43})$/;

/** Hashed for an unknown person, so that the refusal takes as long as for a known one. */
const nobody = { nonce: Buffer.alloc(16, 1), key: Buffer.alloc(tagLength, 1) };

/** False without a hash, after the same work. */
export const verifyPassword = async (password: string, hash: string | null, rank: Rank): Promise<boolean> => {
  const parts = hash === null ? null : form.exec(hash);
  if (!parts) {
    await derive(password, nobody.nonce, cost, rank);
    return false;
  }
  const [, memory, passes, parallelism, nonce, key] = parts;
  const settings = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const derived = await derive(password, Buffer.from(nonce!, 'base64'), settings, rank);
  return timingSafeEqual(derived, Buffer.from(key!, 'base64'));
};
