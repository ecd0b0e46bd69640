import { beforeAll, expect, test } from 'vitest';
import type { Scope } from '../../src/core/environment.ts';
import {
  claimIdempotencyKey,
  keepAnswer,
  purgeIdempotencyKeys,
  readIdempotencyKey,
  releaseIdempotencyKey,
} from '../../src/storage/idempotency.ts';
import { openRows, type Rows } from './rows.ts';

const route = 'POST /v1/webhooks/x/test';
let rows: Rows;
let scope: Scope;
beforeAll(async () => {
  rows = await openRows();
  scope = { accountId: await rows.account(), environment: 'sandbox' };
});

const claim = (key: string, holdSeconds: number, body = 0) =>
  claimIdempotencyKey(rows.db, scope, { route, key, bodyHash: Buffer.alloc(32, body), holdSeconds });
const read = (key: string) => readIdempotencyKey(rows.db, scope, { route, key });
const answer = (response: string) => ({ status: 200, response, sealedResponse: null, seal: Buffer.alloc(32) });
/** An expired hold, and the one that took the key over. */
const overtaken = async (key: string) => {
  const lost = { route, key, heldUntil: (await claim(key, -1))! };
  const held = { route, key, heldUntil: (await claim(key, 60, 1))! };
  return { lost, held };
};

test('a key that is held cannot be claimed, nor one that is settled', async () => {
  const heldUntil = await claim('a', 60);
  expect(heldUntil).toBeInstanceOf(Date);
  expect(await claim('a', 60)).toBeNull();
  await keepAnswer(rows.db, scope, { route, key: 'a', heldUntil: heldUntil! }, answer('one'));
  expect(await claim('a', 60)).toBeNull();
  expect(await read('a')).toMatchObject({ status: 200, response: 'one' });
});

test('a holder that took too long keeps no answer in the place of its successor', async () => {
  const { lost, held } = await overtaken('b');
  await keepAnswer(rows.db, scope, lost, answer('late'));
  expect(await read('b')).toMatchObject({ status: null, response: null, bodyHash: Buffer.alloc(32, 1) });
  await keepAnswer(rows.db, scope, held, answer('mine'));
  await keepAnswer(rows.db, scope, lost, answer('later'));
  expect(await read('b')).toMatchObject({ status: 200, response: 'mine' });
});

test('a holder that took too long does not free its successor’s key', async () => {
  const { lost, held } = await overtaken('c');
  await releaseIdempotencyKey(rows.db, scope, lost);
  expect(await claim('c', 60)).toBeNull();
  await releaseIdempotencyKey(rows.db, scope, held);
  expect(await read('c')).toBeNull();
});

test('an answer can be kept for longer than promised', async () => {
  const heldUntil = (await claim('d', 60))!;
  await keepAnswer(rows.db, scope, { route, key: 'd', heldUntil }, answer('one'));
  await rows.run(`update idempotency_keys set created_at = created_at - interval '30 hours' where key = 'd'`);
  const again = { route, key: 'd', bodyHash: Buffer.alloc(32), holdSeconds: 60 };
  expect(await claimIdempotencyKey(rows.db, scope, { ...again, keptHours: 31 })).toBeNull();
  expect(await readIdempotencyKey(rows.db, scope, again, 31)).toMatchObject({ response: 'one' });
  expect(await purgeIdempotencyKeys(rows.db, 10, 31)).toBe(0);

  expect(await read('d')).toBeNull();
  expect(await purgeIdempotencyKeys(rows.db, 10)).toBe(1);
});
