import { randomInt } from 'node:crypto';

/** Letters and digits that are not easily confused. */
const alphabet = '23456789abcdefghjkmnpqrstvwxyz';
const half = 6;
export const recoveryCodeCount = 10;

const part = (): string => Array.from({ length: half }, () => alphabet[randomInt(alphabet.length)]!).join('');

/** 58 random bits each. */
export const generateRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => `${part()}-${part()}`);

/** Accepts a code with or without the dash, in any case. Null for text that cannot be a code. */
export const readRecoveryCode = (text: string): string | null => {
  const plain = text.toLowerCase().replaceAll(/[\s-]/g, '');
  if (plain.length !== 2 * half || ![...plain].every(each => alphabet.includes(each))) return null;
  return `${plain.slice(0, half)}-${plain.slice(half)}`;
};
