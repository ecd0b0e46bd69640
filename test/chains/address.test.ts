import fc from 'fast-check';
import { getAddress, type Hex, keccak256 as viemKeccak } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  addressOfBytes,
  bytesOfAddress,
  isZeroAddress,
  parseEvmAddress,
  zeroAddress,
} from '../../src/chains/evm/address.ts';
import { keccak256, keccak256Hex } from '../../src/chains/evm/keccak.ts';

const addressBytes = fc.uint8Array({ minLength: 20, maxLength: 20 });

test('keccak256 agrees with another implementation', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), data => {
      expect(Buffer.from(keccak256(data)).toString('hex')).toBe(viemKeccak(data).slice(2));
      expect(keccak256Hex(data)).toBe(viemKeccak(data).slice(2));
    }),
  );
});

describe('parseEvmAddress', () => {
  test('agrees with another implementation and reads lower, upper and checksummed forms', () => {
    fc.assert(
      fc.property(addressBytes, bytes => {
        const digits = Buffer.from(bytes).toString('hex');
        const expected = getAddress(`0x${digits}` as Hex);
        expect(addressOfBytes(bytes)).toBe(expected);
        for (const text of [`0x${digits}`, `0x${digits.toUpperCase()}`, expected]) {
          expect(parseEvmAddress(text)).toBe(expected);
        }
        expect(Buffer.from(bytesOfAddress(expected))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('refuses mixed case with one letter turned', () => {
    fc.assert(
      fc.property(addressBytes, fc.nat(39), (bytes, position) => {
        const address = addressOfBytes(bytes);
        const letter = address[position + 2]!;
        const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
        const text = address.slice(0, position + 2) + turned + address.slice(position + 3);
        const digits = text.slice(2);
        fc.pre(turned !== letter && digits !== digits.toLowerCase() && digits !== digits.toUpperCase());
        expect(parseEvmAddress(text)).toBeNull();
      }),
    );
  });

  test.each([
    '',
    '0x',
    'abc',
    `0X${'a'.repeat(40)}`,
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    `0x${'g'.repeat(40)}`,
    ` 0x${'a'.repeat(40)}`,
    `0x${'a'.repeat(40)}\n`,
    'a'.repeat(40),
  ])('refuses %j', text => expect(parseEvmAddress(text)).toBeNull());

  test('the zero address is told apart', () => {
    expect(parseEvmAddress(zeroAddress)).toBe(zeroAddress);
    expect(isZeroAddress(zeroAddress)).toBe(true);
    expect(isZeroAddress(addressOfBytes(new Uint8Array(20).fill(1)))).toBe(false);
  });
});
