import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plainPassword } from '../../src/core/access/passwordRules.ts';
import { entryBytes, isBreached } from '../../src/vault/breachedPasswords.ts';

const read = (name: string): Buffer => readFileSync(new URL(`../../src/vault/breached/${name}`, import.meta.url));

test('passwords of breaches are known, however they are capitalized', () => {
  for (const password of ['passwordpassword', 'Password1234', ' QWERTYUIOP123 ', 'correcthorsebatterystaple']) {
    expect(isBreached(password), password).toBe(true);
  }
  for (const password of ['a quiet river at noon', 'seven lamps under the pier', 'correct horse battery staple tree']) {
    expect(isBreached(password), password).toBe(false);
  }
});

test('each password of our own is in the list, but those that the other rules refuse', () => {
  const own = read('more.txt').toString('utf8').trim().split('\n');
  expect(own.length).toBeGreaterThan(60);
  const isRefusedAnyway = (plain: string): boolean => plain.includes('florin') || new Set(plain).size < 4;
  const missing = own.filter(each => !isBreached(each) && !isRefusedAnyway(plainPassword(each)));
  expect(missing).toEqual([]);
});

test('the list is sorted, without doubles, and as long as its page says', () => {
  const list = read('passwords.bin');
  const page = read('README.md').toString('utf8');
  const count = list.length / entryBytes;
  expect(page).toContain(`${count.toLocaleString('en')} passwords`);
  expect(page).toContain(`${list.length.toLocaleString('en')} bytes`);
  let wrong = 0;
  for (let at = entryBytes; at < list.length; at += entryBytes) {
    if (list.compare(list, at, at + entryBytes, at - entryBytes, at) >= 0) wrong += 1;
  }
  expect(wrong).toBe(0);
});
