import { expect, test } from 'vitest';
import {
  commonPasswords,
  longestPassword,
  refusePassword,
  shortestPassword,
} from '../../../src/core/access/passwordRules.ts';

const person = { email: 'ada@shop.example', name: ' Ada Augusta Lovelace ' };
const refusal = (password: string): string | null => refusePassword(password, person);

const good = 'a long way to the sea';

test('a password has 12 to 256 characters, each sign of a person counted once', () => {
  expect(refusal('abcdefghijk')).toBe('The password must have at least 12 characters.');
  expect(refusal('abcdefghijkm')).toBeNull();
  expect(refusal('🐎🔋🧷🦉🐎🔋🧷🦉🐎🔋🧷')).toMatch('at least 12');
  expect(refusal('🐎🔋🧷🦉🐎🔋🧷🦉🐎🔋🧷🦉')).toBeNull();
  expect(refusal(good.repeat(13).slice(0, 256))).toBeNull();
  expect(refusal(good.repeat(13).slice(0, 257))).toBe('The password must have at most 256 characters.');
  expect([shortestPassword, longestPassword]).toEqual([12, 256]);
});

test('it is neither the e-mail address nor the name, however they are spelled', () => {
  for (const password of ['ada@shop.example', ' ADA@shop.EXAMPLE ', 'ada augusta lovelace', 'Ada Augusta Lovelace']) {
    expect(refusal(password), password).toBe('The password must not be your e-mail address or your name.');
  }
  expect(refusePassword('ada@shop.example', { email: 'ADA@SHOP.EXAMPLE', name: 'Ada' })).toMatch('e-mail');
  expect(refusal('ada@shop.example too')).toBeNull();
});

test('it is not one of those that are guessed first, however it is spelled', () => {
  const guessed = 'This password is easy to guess. Choose another one.';
  for (const password of commonPasswords) {
    expect(refusal(password), password).toBe(guessed);
    expect(refusal(` ${password.toUpperCase()} `), password).toBe(guessed);
  }
  expect(refusal('abcabcabcabcabc')).toBe(guessed);
  expect(refusal('abcdabcdabcd')).toBeNull();
  expect(refusal(good)).toBeNull();
});

test('every common password is one that could be chosen, as it is compared', () => {
  expect(commonPasswords.size).toBeGreaterThan(60);
  for (const password of commonPasswords) {
    expect(password.length, password).toBeGreaterThanOrEqual(shortestPassword);
    expect(password).toBe(password.toLowerCase().trim());
  }
});
