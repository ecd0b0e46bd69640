import { describe, expect, test } from 'vitest';
import { isLoopbackName, refuseUrlText } from '../../src/core/url.ts';

const httpsOnly = 'must be an absolute https: URL';
const orLoopback = 'must be an absolute https: (or http: to a loopback address) URL';
const unclean = 'must not contain spaces, control characters or backslashes';

describe('a URL given by a merchant', () => {
  test.each([
    'https://a.example',
    'HTTPS://a.example/path?query=1#part',
    'https://a.example/@somebody',
    'https://a.example?at=@',
    'https://münchen.example/ä',
    'https://127.0.0.1/',
    `https://a.example/${'x'.repeat(2_048 - 18)}`,
  ])('%s is taken, whether loopback is allowed or not', url => {
    expect([refuseUrlText(url, false), refuseUrlText(url, true)]).toEqual([null, null]);
  });

  test.each(['http://127.0.0.1:8080/hook', 'http://localhost', 'http://a.localhost/', 'http://[::1]:3000/'])(
    '%s is taken only where loopback is allowed',
    url => {
      expect([refuseUrlText(url, false), refuseUrlText(url, true)]).toEqual([httpsOnly, null]);
    },
  );

  test.each([
    'http://a.example',
    'ftp://a.example',
    'a.example',
    '//a.example',
    'https:a.example',
    'https:///a.example',
    'https://',
    'https://a.example:99999',
    'https://[::1',
    'javascript:alert(1)//https://a.example',
    'see:https://me@a.example',
    'ftp://localhost/http://a.example',
    '',
  ])('%j is no https URL', url => {
    expect([refuseUrlText(url, false), refuseUrlText(url, true)]).toEqual([httpsOnly, orLoopback]);
  });

  test.each([
    'https://a.example/a b',
    ' https://a.example',
    'https://a.example\t',
    'https://a.exa\nmple',
    'https://a.example/\u0000',
    'https://a.example/\u007f',
    'https://a.example\\@b.example',
    'https://a.example/\ud800',
  ])('%j is refused for a character', url => {
    expect(refuseUrlText(url, false)).toBe(unclean);
  });

  test.each(['https://me@a.example', 'https://me:secret@a.example/', 'https://@a.example'])(
    '%s is refused for its credentials',
    url => {
      expect(refuseUrlText(url, true)).toBe('must not contain credentials');
    },
  );

  test('one that is too long is refused', () => {
    expect(refuseUrlText(`https://a.example/${'x'.repeat(2_049 - 18)}`, false)).toBe('must be at most 2048 characters');
  });
});

test('loopback is told by its names and addresses, and by nothing that only looks like them', () => {
  for (const name of ['localhost', 'shop.localhost', '[::1]', '127.0.0.1', '127.255.255.254']) {
    expect(isLoopbackName(name), name).toBe(true);
  }
  const others = [
    'notlocalhost', 'localhost.example', '::1', '[::2]', '128.0.0.1', '127.0.0.1.example', 'a127.0.0.1', '127.0.0',
    '127.0.0.x', '127.x.0.1', '127.0.x.1', '127.0.0.1000', '127.1000.0.1', '127.0.1000.1', '127a0.0.1', '127.0a0.1', '127.0.0a1',
  ]; // biome-ignore format: one list
  for (const name of others) expect(isLoopbackName(name), name).toBe(false);
});
