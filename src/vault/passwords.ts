import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;

const maxRunning = 2;
const maxWaiting = 20;

/** Too many passwords are being hashed at once. */
export class TooManyPasswords extends Error {
  readonly code = 'too_many_passwords';
}

/** Each hash takes 19 MiB and a core for a while: a flood of sign-ins must not starve payments. */
let running = 0;

/**
 * Whose password is hashed first. `known`: of a device or session that is theirs, or a new password. `new`: from an
 * address without failures. `failed`: from an address that guessed wrong before.
 */
export const ranks = ['known', 'new', 'failed'] as const;
export type Rank = (typeof ranks)[number];

type Waiting = { readonly start: () => void; readonly refuse: (error: TooManyPasswords) => void };
const waiting: Readonly<Record<Rank, Waiting[]>> = { known: [], new: [], failed: [] };

const tooMany = (): TooManyPasswords => new TooManyPasswords('Too many people are signing in.');

/** Makes room for this rank: the last one in line of the lowest rank below it must go. */
const makeRoom = (rank: Rank): void => {
  if (ranks.reduce((sum, each) => sum + waiting[each].length, 0) < maxWaiting) return;
  const below = ranks.slice(ranks.indexOf(rank) + 1).toReversed();
  const last = below.map(each => waiting[each]).find(line => line.length > 0);
  if (!last) throw tooMany();
  last.pop()!.refuse(tooMany());
};

const enter = async (rank: Rank): Promise<void> => {
  if (running < maxRunning) {
    running += 1;
    return;
  }
  makeRoom(rank);
  await new Promise<void>((start, refuse) => waiting[rank].push({ start, refuse }));
};

const leave = (): void => {
  const line = ranks.map(rank => waiting[rank]).find(each => each.length > 0);
  // The slot goes straight to the next in line, so that a later call cannot take it first.
  if (line) line.shift()!.start();
  else running -= 1;
};

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number };

const derive = async (
  password: string,
  nonce: Buffer,
  { memory, passes, parallelism }: Cost,
  rank: Rank,
): Promise<Buffer> => {
  await enter(rank);
  try {
    // Some keyboards send an accented letter as two characters, others as one.
    const message = password.normalize('NFKC');
    return await new Promise<Buffer>((resolve, reject) => {
      const parameters = { message, nonce, memory, passes, parallelism, tagLength };
      argon2('argon2id', parameters, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    leave();
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
