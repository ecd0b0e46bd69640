import { totpCode, totpStep } from '../../src/vault/totp.ts';
import type { DashboardClient } from './dashboard.ts';

export const bytesOf = (base32: string): Buffer => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...base32].map(each => alphabet.indexOf(each).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g)!.map(each => Number.parseInt(each, 2)));
};

/** Turns on an authenticator app. `next` is a code that is valid already and was not used. */
export const addTotp = async (person: DashboardClient): Promise<{ recoveryCodes: string[]; next: string }> => {
  const { secret } = await person.do('POST /me/totp/begin');
  const step = totpStep(Date.now());
  const code = totpCode(bytesOf(secret), step);
  const { recoveryCodes } = await person.do('POST /me/totp', { body: { code } });
  return { recoveryCodes, next: totpCode(bytesOf(secret), step + 1n) };
};
