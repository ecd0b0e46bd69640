import { expect, test } from 'vitest';
import { longestPassword, refusePassword, shortestPassword } from '../../../src/core/access/passwordRules.ts';

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

const aboutPerson = 'The password must not be your name or contain your e-mail address. Use a few unrelated words.';

test('it is neither the e-mail address nor the name, however they are spelled', () => {
  for (const password of ['ada@shop.example', ' ADA@shop.EXAMPLE ', 'ada augusta lovelace', 'Ada Augusta Lovelace']) {
    expect(refusal(password), password).toBe(aboutPerson);
  }
  expect(refusePassword('ada@shop.example', { email: 'ADA@SHOP.EXAMPLE', name: 'Ada' })).toBe(aboutPerson);
});

test('it does not contain what stands before the @, unless that is so short that it is in many words', () => {
  const lovelace = { email: 'Lovelace@shop.example', name: 'Ada' };
  expect(refusePassword('my lovelace 2026', lovelace)).toBe(aboutPerson);
  expect(refusePassword('LOVELACElovelace', lovelace)).toBe(aboutPerson);
  expect(refusePassword(good, lovelace)).toBeNull();
  expect(refusal('ada@shop.example too')).toBeNull();
});

test('it does not contain the name of this software, and not only a few characters', () => {
  const guessed = 'This password is easy to guess. Use a few unrelated words, without “florin”.';
  for (const password of ['florin admin 2026', 'my FLORIN password', 'abcabcabcabcabc', 'aaaaaaaaaaaaaaaa']) {
    expect(refusal(password), password).toBe(guessed);
  }
  expect(refusal('abcdabcdabcd')).toBeNull();
  expect(refusal(good)).toBeNull();
});
