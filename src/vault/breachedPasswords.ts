import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { plainPassword } from '../core/access/passwordRules.ts';

/** Of each password, the first bytes of its SHA-256, sorted (breached/README.md). */
const list = readFileSync(new URL('./breached/passwords.bin', import.meta.url));

/** Five bytes: with 12,000 entries, one in 90 million other passwords is taken for one. */
export const entryBytes = 5;

export const entryOf = (plain: string): Buffer => createHash('sha256').update(plain).digest().subarray(0, entryBytes);

/** Whether a password is known from breaches, however it is capitalized. */
export const isBreached = (password: string): boolean => {
  const wanted = entryOf(plainPassword(password));
  let [low, high] = [0, list.length / entryBytes];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = wanted.compare(list, middle * entryBytes, (middle + 1) * entryBytes);
    if (order === 0) return true;
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return false;
};
