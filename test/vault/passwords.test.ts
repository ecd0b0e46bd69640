import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, type Rank, TooManyPasswords, verifyPassword } from '../../src/vault/passwords.ts';

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

test('known devices come first, addresses that failed come last and make room', async () => {
  const order: string[] = [];
  const check = (rank: Rank, name: string) =>
    verifyPassword('x', null, rank).then(
      () => order.push(name),
      () => order.push(`${name} refused`),
    );
  const running = [check('failed', 'running'), check('failed', 'running')];
  const failed = Array.from({ length: 20 }, (_, index) => check('failed', `failed ${index}`));
  const others = [check('new', 'new'), check('known', 'known')];
  await Promise.all([...running, ...failed, ...others]);
  expect(order.filter(each => each.endsWith('refused'))).toEqual(['failed 19 refused', 'failed 18 refused']);
  const judged = order.filter(each => !each.endsWith('refused') && each !== 'running');
  expect(judged.slice(0, 2).sort()).toEqual(['known', 'new']);
});

test('two are hashed at a time, a few wait, and more are refused', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => hashPassword('correct horse')));
  const refused = outcomes.filter(outcome => outcome.status === 'rejected');
  expect(refused).toHaveLength(8);
  for (const { reason } of refused) expect(reason).toBeInstanceOf(TooManyPasswords);
  // Afterwards there is room again.
  expect(await verifyPassword('x', await hashPassword('x'), 'known')).toBe(true);
});
