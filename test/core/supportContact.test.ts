import { describe, expect, test } from 'vitest';
import { readSupportContact } from '../../src/core/supportContact.ts';

const host = `${'a'.repeat(60)}.example`;

describe('a contact is an e-mail address', () => {
  test.each([
    ['help@acme.example', 'help@acme.example'],
    ['First.Last+tag_1-2.x@shop.acme.co', 'First.Last+tag_1-2.x@shop.acme.co'],
    ['a@b.example', 'a@b.example'],
    ['help@ACME.Example', 'help@acme.example'],
    ['help@münchen.example', 'help@xn--mnchen-3ya.example'],
    ['help@a-b.x1.example', 'help@a-b.x1.example'],
    [`${'a'.repeat(299 - host.length)}@${host}`, `${'a'.repeat(299 - host.length)}@${host}`],
  ])('%s', (given, text) => {
    expect(readSupportContact(given)).toEqual({ kind: 'mail', text });
  });
});

describe('a contact is the https address of a page', () => {
  test.each([
    ['https://acme.example', 'https://acme.example/'],
    ['HTTPS://ACME.example/Help', 'https://acme.example/Help'],
    ['https://acme.example/help?about=payments#top', 'https://acme.example/help?about=payments#top'],
    ['https://x/', 'https://x/'],
    ['https://a-b.shop1.example:8443/', 'https://a-b.shop1.example:8443/'],
    ['https://acme.example:1/', 'https://acme.example:1/'],
    ['https://acme.example:65535/', 'https://acme.example:65535/'],
    ['https://[2001:db8::1]/help', 'https://[2001:db8::1]/help'],
    ['https://acme.example/ä', 'https://acme.example/%C3%A4'],
    [`https://acme.example/${'x'.repeat(279)}`, `https://acme.example/${'x'.repeat(279)}`],
  ])('%s', (given, text) => {
    expect(readSupportContact(given)).toEqual({ kind: 'web', text });
  });
});

test.each([
  '', 'help', '@', 'help@', '@acme.example', 'help@acme', 'help@acme.e', 'a@b@c.example', 'see help@acme.example',
  'help@acme.example now', 'help@acme.example?cc=all@x.example', 'help@acme.example/x', 'help@acme.example:25', '.help@acme.example',
  'help.@acme.example', 'he..lp@acme.example', 'he"lp@acme.example', 'he,lp@acme.example', 'help@-acme.example', 'help@acme-.example',
  'help@.example', 'help@acme..example', 'help@acme.1example', 'help@acme.example-', 'help@192.0.2.1', 'help@<b>.example',
  'mailto:help@acme.example', 'http://acme.example', 'javascript:alert(1)', 'ftp://acme.example', 'acme.example', 'https://',
  'https://acme.example:99999/', 'https://me@acme.example/', 'https://me:x@acme.example/', 'https://acme_.example/',
  'see https://acme.example/', 'x-https://acme.example/', `https://acme.example/${'x'.repeat(280)}`,
  `${'a'.repeat(300 - host.length)}@${host}`,
])('%j is none', given => {
  expect(readSupportContact(given)).toBeNull();
}); // biome-ignore format: one list
