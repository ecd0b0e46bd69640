import { expect, test } from 'vitest';
import { base32Of, generateTotpSecret, matchTotp, totpCode, totpStep, totpUri } from '../../src/vault/totp.ts';

/** RFC 6238, appendix B, for SHA-1: eight digits. */
const secret = Buffer.from('12345678901234567890');
test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('at %i seconds the code is %s', (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1000), 8)).toBe(code);
  expect(totpCode(secret, totpStep(seconds * 1000))).toBe(code.slice(2));
});

const nowMs = 1_111_111_111_000;
const at = (steps: bigint): string => totpCode(secret, totpStep(nowMs) + steps);

test('a code is good one step before and after its own, and no further', () => {
  for (const steps of [-1n, 0n, 1n]) expect(matchTotp(secret, at(steps), nowMs, 0n)).toBe(totpStep(nowMs) + steps);
  for (const steps of [-2n, 2n]) expect(matchTotp(secret, at(steps), nowMs, 0n)).toBeNull();
});

test('no code is good once one of its time or later was taken', () => {
  const now = totpStep(nowMs);
  expect(matchTotp(secret, at(0n), nowMs, now)).toBeNull();
  expect(matchTotp(secret, at(-1n), nowMs, now)).toBeNull();
  expect(matchTotp(secret, at(1n), nowMs, now)).toBe(now + 1n);
});

test.each(['', '12345', '1234567', 'abcdef', ' 050471', '٠٥٠٤٧١'])('%j is no code', code => {
  expect(matchTotp(secret, code, nowMs, 0n)).toBeNull();
});

/** RFC 4648, section 10, without padding. */
test.each([
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('%s is %s in base32', (text, base32) => {
  expect(base32Of(Buffer.from(text))).toBe(base32);
});

test('secrets are 160 bits, each of them new, and the address says whose they are', () => {
  const [one, two] = [generateTotpSecret(), generateTotpSecret()];
  expect(one).toHaveLength(20);
  expect(one.equals(two)).toBe(false);
  const uri = new URL(totpUri(one, 'a&b@example.com', 'localhost:8443'));
  expect(uri.searchParams.get('secret')).toBe(base32Of(one));
  expect(decodeURIComponent(uri.pathname)).toContain('a&b@example.com');
});
