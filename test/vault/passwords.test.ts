import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, TooManyPasswords, verifyPassword } from '../../src/vault/passwords.ts';

test('a password is kept as argon2id with at least 19 MiB and two passes, and a salt of its own', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(one).not.toBe(two);
  const [, memory, passes, lanes, salt, key] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(
    one,
  )!;
  expect(Number(memory)).toBeGreaterThanOrEqual(19_456);
  expect(Number(passes)).toBeGreaterThanOrEqual(2);
  const parameters = {
    message: 'correct horse',
    nonce: Buffer.from(salt!, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(lanes),
    tagLength: 32,
  };
  expect(argon2Sync('argon2id', parameters).toString('base64').replace(/=+$/, '')).toBe(key);
});

test('the right one is right, everything else is wrong', async () => {
  const hash = await hashPassword('correct horse');
  expect(await verifyPassword('correct horse', hash, 'known')).toBe(true);
  expect(await verifyPassword('Correct horse', hash, 'known')).toBe(false);
  expect(await verifyPassword('', hash, 'known')).toBe(false);
  expect(await verifyPassword('correct horse', null, 'known')).toBe(false);
  expect(await verifyPassword('correct horse', 'correct horse', 'known')).toBe(false);
  expect(await verifyPassword('correct horse', hash.replace('t=2', 't=3'), 'known')).toBe(false);
});

test('accents count the same however a keyboard sends them', async () => {
  expect(await verifyPassword('cafe\u0301 au lait', await hashPassword('café au lait'), 'known')).toBe(true);
});

test('two are hashed at a time, a few wait, and more are refused', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => hashPassword('correct horse')));
  const refused = outcomes.filter(outcome => outcome.status === 'rejected');
  expect(refused).toHaveLength(8);
  for (const { reason } of refused) expect(reason).toBeInstanceOf(TooManyPasswords);
  // Afterwards there is room again.
  expect(await verifyPassword('x', await hashPassword('x'), 'known')).toBe(true);
});
