import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { addressBytes, checkWebhookUrl, classifyAddress, isLoopbackHost } from '../../src/webhooks/guard.ts';
import { rounds } from '../support/rounds.ts';

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '203.0.114.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2400::1',
  '2003::1',
  '2001:200::1',
  '2001:4860:4860::8888',
];

const loopbackAddresses = ['127.0.0.1', '127.0.0.0', '127.1.2.3', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'];

const refusedAddresses = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.175.48.1',
  '2620:4f:8000::1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '::8.8.8.8',
  '::2',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::a00:1',
  '100::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:0:7f00:1::',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  '2606:4700::1%1',
  '',
  ' ',
  'example.com',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.0.0.01',
  '1.2.3.4.5',
  '[::1]',
  ':::',
];

describe('classifyAddress', () => {
  test.each(publicAddresses)('%s is public', address => expect(classifyAddress(address)).toBe('public'));
  test.each(loopbackAddresses)('%s is loopback', address => expect(classifyAddress(address)).toBe('loopback'));
  test.each(refusedAddresses)('%j is refused', address => expect(classifyAddress(address)).toBe('refused'));

  test('judges bytes and text alike', () => {
    for (const text of [...publicAddresses, ...loopbackAddresses]) {
      expect(classifyAddress(addressBytes(text)!)).toBe(classifyAddress(text));
    }
    for (const length of [0, 3, 5, 15, 17]) expect(classifyAddress(new Uint8Array(length))).toBe('refused');
  });

  test('never calls public what an independent table calls special', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      // Random bytes seldom start like a real address, so the first two are also drawn from the crowded prefixes.
      fc
        .tuple(
          fc.constantFrom(0x2001, 0x2002, 0x2620, 0x3fff, 0x64, 0, 0xfc00, 0xfe80),
          fc.uint8Array({ minLength: 14, maxLength: 14 }),
        )
        .map(([head, tail]) => Uint8Array.from([head >> 8, head & 0xff, ...tail])),
    );
    fc.assert(
      fc.property(bytes, address => {
        const range = ipaddr.fromByteArray([...address]).range();
        if (range !== 'unicast') expect(classifyAddress(address)).not.toBe('public');
        if (classifyAddress(address) === 'loopback') expect(range).toBe('loopback');
      }),
      { numRuns: rounds(500, 5_000) },
    );
  });
});

const refusedEverywhere = [
  '',
  'example.com',
  '//example.com/hook',
  '/hook',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  'https://',
  'https://?x',
  'ftp://example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,x',
  'gopher://127.0.0.1',
  'wss://example.com',
  'unix:/run/x.sock',
  'blob:https://example.com/x',
  'http://example.com/',
  'HTTP://example.com/',
  'http://8.8.8.8/',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://@example.com/',
  'https://:@example.com/',
  ' https://example.com/',
  'https://example.com/ ',
  'https://exa\tmple.com/',
  'https://example.com/\n',
  'https:\\\\example.com',
  'https://example.com\\@127.0.0.1/',
  'https://example.com/\u0000',
  'https://example.com/\ud800',
  'https://example.com./',
  'https://localhost./',
  'https://localhost../',
  'https://example.com:0/',
  'https://example.com:99999/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fe80::1]/',
  'https://[::]/',
  'https://[fe80::1%25eth0]/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.1/',
  'https://0xa.1/',
  'https://012.0.0.1/',
  'https://167772161/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'https://１６９.254.169.254/',
  'https://169。254。169。254/',
  'https://%31%36%39.254.169.254/',
  'https://192.168.1.1:8080/',
  'https://255.255.255.255/',
  'https://1.2.3.4.5/',
  `https://example.com/${'a'.repeat(2048)}`,
];

const loopbackUrls = [
  'https://localhost/',
  'https://LOCALHOST:9/',
  'http://localhost:3000/hook',
  'https://api.localhost/',
  'http://a.b.localhost/',
  'https://127.0.0.1/',
  'http://127.0.0.1:8080/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://0x7f.1/',
  'http://127.0.0.1./',
  'http://[::1]:80/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[0000:0000::0001]/',
  'http://①②⑦.0.0.1/',
  'http://127.255.255.254/',
];

const allowedEverywhere = [
  'https://example.com/',
  'https://example.com',
  'HTTPS://EXAMPLE.COM/hook?x=1&y=@2',
  'https://example.com:8443/a/b',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://bücher.example/',
  'https://localhost.example.com/',
  'https://notlocalhost/',
  'https://example.com/#fragment',
  'https://example.com#@127.0.0.1/',
  'https://example.com/@x',
  `https://example.com/${'a'.repeat(2048 - 'https://example.com/'.length)}`,
];

describe('checkWebhookUrl', () => {
  test.each(refusedEverywhere)('refuses %j under either policy', url => {
    expect(checkWebhookUrl(url, { allowLoopback: false })).toMatch(/^must /);
    expect(checkWebhookUrl(url, { allowLoopback: true })).toMatch(/^must /);
  });

  test.each(loopbackUrls)('allows %j exactly where loopback is allowed', url => {
    expect(checkWebhookUrl(url, { allowLoopback: false })).toMatch(/^must /);
    expect(checkWebhookUrl(url, { allowLoopback: true })).toBeNull();
  });

  test.each(allowedEverywhere)('allows %j', url => {
    expect(checkWebhookUrl(url, { allowLoopback: false })).toBeNull();
    expect(checkWebhookUrl(url, { allowLoopback: true })).toBeNull();
  });

  test('never throws and never repeats what it was given', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({ withFragments: true })),
        fc.boolean(),
        (text, allowLoopback) => {
          const reason = checkWebhookUrl(text, { allowLoopback });
          if (reason !== null && text.length > 8) expect(reason).not.toContain(text);
        },
      ),
    );
  });
});

describe('isLoopbackHost', () => {
  test('knows loopback names and addresses, bracketed or not', () => {
    for (const host of ['localhost', 'x.localhost', 'LocalHost', '127.9.9.9', '::1', '[::1]'])
      expect(isLoopbackHost(host)).toBe(true);
    for (const host of ['0.0.0.0', '::', 'example.com', 'localhost.example.com', '10.0.0.1', ''])
      expect(isLoopbackHost(host)).toBe(false);
  });
});
