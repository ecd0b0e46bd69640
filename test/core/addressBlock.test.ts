import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAddressBlock } from '../../src/core/addressBlock.ts';
import { rounds } from '../support/rounds.ts';

test.each([
  ['192.0.2.1', { address: '192.0.2.1', family: 4, prefixBits: 32 }],
  ['10.0.0.0/8', { address: '10.0.0.0', family: 4, prefixBits: 8 }],
  ['0.0.0.0/0', { address: '0.0.0.0', family: 4, prefixBits: 0 }],
  ['::1', { address: '::1', family: 6, prefixBits: 128 }],
  ['2001:DB8::/32', { address: '2001:DB8::', family: 6, prefixBits: 32 }],
  ['::ffff:192.0.2.1/128', { address: '::ffff:192.0.2.1', family: 6, prefixBits: 128 }],
])('%s', (text, block) => {
  expect(readAddressBlock(text)).toEqual(block);
});

test.each([
  '', '/', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/ 8', '10.0.0',
  '010.0.0.1', '256.0.0.1', '0x7f.1', '127.1', ' 10.0.0.1', '10.0.0.1\n', '::1/129', 'fe80::1%eth0', '[::1]', ':', ':::',
  '1:2:3:4:5:6:7', 'proxy.example', '::1]?[::1', '::1]?x', '::1]#',
])('%j is none', text => {
  expect(readAddressBlock(text)).toBeNull();
}); // biome-ignore format: one list

test('agrees with the system on what an address is', () => {
  const piece = fc.constantFrom('0', '1', '01', 'f', 'ffff', '10000', '255', '256', ':', '::', '.', '1.2.3.4', 'g');
  const texts = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join('')),
  );
  const addresses = texts.filter(text => !text.includes('/'));
  fc.assert(
    fc.property(addresses, text => {
      expect(readAddressBlock(text)?.family ?? 0, text).toBe(isIP(text));
    }),
    { numRuns: rounds(200, 2_000) },
  );
});
