import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { createAddressMatcher, limitSubject } from '../../src/http/edge/clientAddress.ts';

/** ipaddr.js reads addresses on its own, so it serves as the oracle here. */
const prefixOf = (address: string): string =>
  (ipaddr.parse(address) as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':');

test('IPv6 is limited by its first 64 bits, however it is spelled', () => {
  fc.assert(
    fc.property(fc.ipV6(), address => {
      const parsed = ipaddr.parse(address) as ipaddr.IPv6;
      fc.pre(!parsed.isIPv4MappedAddress());
      expect(limitSubject(address)).toBe(prefixOf(address));
      expect(limitSubject(parsed.toNormalizedString())).toBe(prefixOf(address));
    }),
  );
});

test('IPv4 is limited by its address, mapped or not', () => {
  expect(limitSubject('192.0.2.7')).toBe('192.0.2.7');
  expect(limitSubject('::ffff:192.0.2.7')).toBe('192.0.2.7');
  expect(limitSubject('nonsense')).toBe('unknown');
});

test('blocks match as an independent reader says', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, base, bits) => {
      const expected = (ipaddr.parse(address) as ipaddr.IPv4).match(ipaddr.parse(base) as ipaddr.IPv4, bits);
      expect(createAddressMatcher([`${base}/${bits}`])(address)).toBe(expected);
      expect(createAddressMatcher([`${base}/${bits}`])(`::ffff:${address}`)).toBe(expected);
    }),
  );
});

test('an IPv6 block matches, and nonsense matches nothing', () => {
  const matches = createAddressMatcher(['2001:db8::/32', '::1']);
  expect([matches('2001:db8:1::5'), matches('2001:db9::'), matches('::1'), matches(''), matches('::ffff:')]).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
});
