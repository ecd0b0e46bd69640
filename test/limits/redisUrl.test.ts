import { expect, test } from 'vitest';
import { readRedisUrl } from '../../src/limits/redisUrl.ts';

const plain = { kind: 'server', isEncrypted: false, username: null, password: null, database: 0, sentinel: null };

test.each([
  ['redis://localhost', { ...plain, hosts: [{ host: 'localhost', port: 6379 }] }],
  ['redis://[::1]:7000/3', { ...plain, hosts: [{ host: '::1', port: 7000 }], database: 3 }],
  [
    'rediss://florin:p%40ss:word@cache.example:6380',
    {
      ...plain,
      isEncrypted: true,
      username: 'florin',
      password: 'p@ss:word',
      hosts: [{ host: 'cache.example', port: 6380 }],
    },
  ],
  ['redis://:secret@cache', { ...plain, password: 'secret', hosts: [{ host: 'cache', port: 6379 }] }],
  [
    'redis://a,b:26380,[::1]/1?sentinel=main',
    {
      ...plain,
      kind: 'sentinel',
      sentinel: { name: 'main', username: null, password: null },
      database: 1,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
        { host: '::1', port: 26_379 },
      ],
    },
  ],
  [
    'rediss://:one@a?sentinel=main&sentinelUser=florin&sentinelPassword=t%2Bwo',
    {
      ...plain,
      kind: 'sentinel',
      isEncrypted: true,
      password: 'one',
      hosts: [{ host: 'a', port: 26_379 }],
      sentinel: { name: 'main', username: 'florin', password: 't+wo' },
    },
  ],
])('%s', (text, server) => {
  expect(readRedisUrl(text)).toEqual(server);
});

test.each([
  'localhost:6379',
  'http://localhost',
  'redis://',
  'redis://a:0',
  'redis://a:65536',
  'redis://a:x',
  'redis://a,b',
  'redis://a,,b?sentinel=x',
  'redis://a/100',
  'redis://a,b?cluster',
  'redis://a?sentinel=',
  'redis://a?sentinelPassword=s3cret',
  'redis://a?sentinel=x&sentinelUser=florin',
  'redis://a?timeout=3',
  'redis://s3cret@a',
  'redis://:%zz@a',
  'redis://a#b',
])('%s is refused, with a reason that quotes nothing of it', text => {
  const reason = readRedisUrl(text);
  expect(reason).toMatch(/^(must|may|names|has) /);
  expect(reason).not.toContain('s3cret');
});
