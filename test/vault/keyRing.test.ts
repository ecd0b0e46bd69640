import { describe, expect, test } from 'vitest';
import { createKeyRing, type Hindrance } from '../../src/vault/keyRing.ts';
import { masterKeyOf, nextKeyText, parseMasterKey } from '../../src/vault/masterKey.ts';
import { createVault, SealBroken } from '../../src/vault/vault.ts';

const former = masterKeyOf(Buffer.alloc(32, 1));
const next = parseMasterKey(nextKeyText(former));
const [formerVault, nextVault] = [createVault(former), createVault(next)];
const scope = { accountId: 'acc_1', environment: 'production' } as const;
const unavailable = expect.objectContaining({ code: 'service_unavailable' });

describe('a key that replaced another', () => {
  test('has the same addresses and names of rate limits, and nothing else', () => {
    expect(nextVault.salt(scope, 7n)).toEqual(formerVault.salt(scope, 7n));
    expect(nextVault.limitSubject('a')).toBe(formerVault.limitSubject('a'));
    expect(next.fingerprint).not.toBe(former.fingerprint);
    expect(nextVault.rowSeal('a', ['b'])).not.toEqual(formerVault.rowSeal('a', ['b']));
    expect(nextVault.alertSecret()).not.toBe(formerVault.alertSecret());
  });

  test('can be replaced as well', () => {
    const third = parseMasterKey(` ${nextKeyText(next).toUpperCase()}\n`);
    expect(createVault(third).salt(scope, 7n)).toEqual(formerVault.salt(scope, 7n));
    expect(third.fingerprint).not.toBe(next.fingerprint);
  });

  test('is refused without the salts of the first key, and is another key with other salts', () => {
    const [secret] = nextKeyText(former).split('.');
    expect(() => parseMasterKey(`${secret}.`)).toThrow('must be hexadecimal');
    expect(() => parseMasterKey(`${secret}.abcd`)).toThrow('must be hexadecimal');
    expect(() => parseMasterKey(`abcd.${secret}`)).toThrow('must be hexadecimal');
    expect(parseMasterKey(`${secret}.${'1'.repeat(64)}`).fingerprint).not.toBe(parseMasterKey(secret!).fingerprint);
  });

  test('tells its hashes of recovery codes from others', () => {
    const [mine, older] = [nextVault.recoveryHash('per_1', 'abc'), formerVault.recoveryHash('per_1', 'abc')];
    expect([nextVault.isRecoveryHash(mine), nextVault.isRecoveryHash(older)]).toEqual([true, false]);
    expect(formerVault.isRecoveryHash(older)).toBe(true);
    const third = createVault(parseMasterKey(nextKeyText(next)));
    expect(third.isRecoveryHash(mine)).toBe(false);
  });
});

test('both keys are accepted, and values are made with the current one', () => {
  const { vault, hold } = createKeyRing({ current: former, other: next, isNext: false });
  const [older, newer] = [formerVault.rowSeal('a', ['b']), nextVault.rowSeal('a', ['b'])];
  expect(vault.rowSeal('a', ['b'])).toEqual(older);
  expect(vault.isRowSeal('a', ['b'], newer)).toBe(true);
  hold({ current: next, other: former, isNext: true });
  expect(vault.rowSeal('a', ['b'])).toEqual(newer);
  expect(vault.isRowSeal('a', ['b'], older)).toBe(true);
  expect(vault.open(formerVault.seal('text', ['c']), ['c']).toString()).toBe('text');
  expect(() => vault.open(formerVault.seal('text', ['c']), ['d'])).toThrow(SealBroken);
  hold({ current: next, other: null, isNext: false });
  expect(vault.isRowSeal('a', ['b'], older)).toBe(false);
  expect(() => vault.open(formerVault.seal('text', ['c']), ['c'])).toThrow(SealBroken);
});

test('a process that lacks the next key makes nothing, and calls nothing forged', () => {
  let hindrance: Hindrance = 'unknown';
  const { vault, guard } = createKeyRing({ current: former, other: null, isNext: false });
  guard(() => hindrance);
  const throws = (work: () => unknown) => expect(work).toThrow(unavailable);
  expect(vault.isRowSeal('a', ['b'], formerVault.rowSeal('a', ['b']))).toBe(true);
  throws(() => vault.isRowSeal('a', ['b'], nextVault.rowSeal('a', ['b'])));
  throws(() => vault.open(nextVault.seal('text', ['c']), ['c']));
  throws(() => vault.rowSeal('a', ['b']));
  throws(() => vault.seal('text', ['c']));
  hindrance = 'stale';
  throws(() => vault.rowSeal('a', ['b']));
  expect(vault.isRowSeal('a', ['b'], nextVault.rowSeal('a', ['b']))).toBe(false);
});
