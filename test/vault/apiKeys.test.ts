import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { generateApiKey, parseApiKey } from '../../src/vault/apiKeys.ts';
import { generateWebhookSecret } from '../../src/vault/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  test.each([
    ['sandbox', 'sk_test_'],
    ['production', 'sk_live_'],
  ] as const)('%s keys begin with %s and parse', (environment, prefix) => {
    for (let i = 0; i < 100; i++) {
      const { key, hash, hint } = generateApiKey(environment);
      expect(key).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
      expect(hash).toEqual(createHash('sha256').update(key).digest());
      expect(parseApiKey(key)).toEqual({ environment, hash: hash.toString('hex') });
      expect(hint).toBe(`${prefix}…${key.slice(-4)}`);
    }
  });

  test('every single-character change is caught', () => {
    const { key } = generateApiKey('sandbox');
    for (let i = 0; i < key.length; i++) {
      for (const character of `${alphabet}_-. é`) {
        if (character === key[i]) continue;
        expect(parseApiKey(key.slice(0, i) + character + key.slice(i + 1))).toBeNull();
      }
      expect(parseApiKey(key.slice(0, i) + key.slice(i + 1))).toBeNull();
    }
  });

  test('swapped neighbours, another prefix and anything around it are caught', () => {
    const { key } = generateApiKey('sandbox');
    for (let i = 0; i + 1 < key.length; i++) {
      if (key[i] === key[i + 1]) continue;
      expect(parseApiKey(key.slice(0, i) + key[i + 1] + key[i] + key.slice(i + 2))).toBeNull();
    }
    for (const text of [
      key.replace('test', 'live'),
      ` ${key}`,
      `${key}\n`,
      `${key}0`,
      '',
      'sk_test_',
      key.toUpperCase(),
    ]) {
      expect(parseApiKey(text)).toBeNull();
    }
  });

  test('uses the whole alphabet and repeats nothing', () => {
    const keys = Array.from({ length: 500 }, () => generateApiKey('production').key);
    expect(new Set(keys).size).toBe(500);
    const seen = new Set(keys.flatMap(key => [...key.slice(8, 40)]));
    expect([...seen].sort().join('')).toBe(alphabet);
  });
});

test('a webhook secret is whsec_ and standard base64 of 32 bytes', () => {
  const secret = generateWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), 'base64').length).toBe(32);
  expect(generateWebhookSecret()).not.toBe(secret);
});
