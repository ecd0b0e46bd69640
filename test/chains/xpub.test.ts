import { HDKey } from '@scure/bip32';
import { privateKeyToAddress } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { deriveXpubAddress } from '../../src/chains/evm/xpub.ts';
import { FlorinError } from '../../src/core/errors.ts';

const account = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'");
const xpub = account.publicExtendedKey;

describe('deriveXpubAddress', () => {
  test('gives the addresses whose private keys the wallet holds', () => {
    for (const index of [0, 1, 2, 1_000, 0x7fff_ffff]) {
      const { privateKey } = account.deriveChild(0).deriveChild(index);
      const expected = privateKeyToAddress(`0x${Buffer.from(privateKey!).toString('hex')}`);
      expect(deriveXpubAddress(xpub, index)).toBe(expected);
    }
  });

  test('the well-known test phrase', () => {
    // "test test test test test test test test test test test junk", m/44'/60'/0'
    const seed =
      '9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0';
    const wellKnown = HDKey.fromMasterSeed(Buffer.from(seed, 'hex')).derive("m/44'/60'/0'").publicExtendedKey;
    expect(deriveXpubAddress(wellKnown, 0)).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
    expect(deriveXpubAddress(wellKnown, 1)).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
  });

  test('refuses a private key, with a clear error that does not repeat it', () => {
    const refusal = (() => {
      try {
        return deriveXpubAddress(account.privateExtendedKey, 0);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(FlorinError);
    expect((refusal as FlorinError).message).toContain('extended private key');
    expect((refusal as FlorinError).message).not.toContain(account.privateExtendedKey.slice(5, 15));
  });

  test.each(['', 'xpub', `${xpub}1`, `xpub${'1'.repeat(107)}`, xpub.replace(/.$/, last => (last === 'a' ? 'b' : 'a'))])(
    'refuses %j',
    text => {
      expect(() => deriveXpubAddress(text, 0)).toThrow(FlorinError);
    },
  );

  test('refuses an index that is hardened or not whole', () => {
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN])
      expect(() => deriveXpubAddress(xpub, index)).toThrow(RangeError);
  });

  test('an address asked for again is the same, and never that of another key or index', () => {
    const other = account.deriveChild(5).publicExtendedKey;
    const places = [xpub, other].flatMap(key => [1, 11, 111].map(index => [key, index] as const));
    const first = places.map(([key, index]) => deriveXpubAddress(key, index));
    expect(new Set(first).size).toBe(places.length);
    expect(places.map(([key, index]) => deriveXpubAddress(key, index))).toEqual(first);
  });

  test('more keys than the cache holds stay right', { tags: ['thorough'], timeout: 60_000 }, () => {
    const keys = Array.from({ length: 300 }, (_, i) => account.deriveChild(i).publicExtendedKey);
    const first = keys.map(key => deriveXpubAddress(key, 3));
    expect(new Set(first).size).toBe(keys.length);
    expect(deriveXpubAddress(keys[0]!, 3)).toBe(first[0]);
  });
});
