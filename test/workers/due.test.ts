import { beforeAll, expect, test } from 'vitest';
import { purgeIdempotencyKeys } from '../../src/storage/idempotency.ts';
import { duePayments } from '../../src/storage/payments/duePayments.ts';
import { pagesRead } from '../support/pagesRead.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const run = (sql: string) => quiet.scene.admin.db.script(sql);
const due = () => duePayments(quiet.context.db, 200);
const pages = () => pagesRead(quiet.scene.admin.db, db => duePayments(db, 200));

/** Copies of the existing payment, inserted directly: thousands by the API would take too long. */
const copies = (count: number): Promise<void> =>
  run(`insert into payments select r.* from (select * from payments order by id desc limit 1) p,
      generate_series(1000, 999 + ${count}) n, jsonb_populate_record(null::payments, to_jsonb(p) || jsonb_build_object(
        'id', 'pay_' || lpad(n::text, 26, '0'), 'address', '0x' || lpad(n::text, 40, '0'), 'derivation_index', n)) r`);
const settle = (): Promise<void> => run('vacuum analyze');

test('open payments whose time has not come cost a sweep nothing, however many they are', async () => {
  await quiet.overdue(1);
  await quiet.caughtUp();
  expect(await due()).toHaveLength(1);
  await run(`update payments set wake_at = clock_timestamp() + interval '1 day'`);
  await settle();
  const alone = await pages();
  await copies(5_000);
  await settle();
  expect(await due()).toEqual([]);
  expect(await pages()).toBeLessThanOrEqual(alone + 10);
});

test.each([
  ['was never polled', 'null'],
  ['was polled last before their time', `clock_timestamp() - interval '1 day'`],
])('nor do overdue ones of a chain that %s', async (_, caughtUpAt) => {
  await run(`update payments set wake_at = clock_timestamp() - interval '1 hour';
    update chains set caught_up_at = ${caughtUpAt}, coins_caught_up_at = ${caughtUpAt}`);
  await settle();
  expect(await due()).toEqual([]);
  expect(await pages()).toBeLessThanOrEqual(20);
  await quiet.caughtUp();
  expect(await due()).toHaveLength(200);
});

test('a purge does not look at the keys that are still promised', async () => {
  await run(`insert into idempotency_keys (account_id, environment, route, key, body_hash, resource_id, status, response,
      created_at)
    select id, 'sandbox', 'POST /v1/payments', n::text, sha256('x'), 'r', 200, '{}',
      clock_timestamp() - n * interval '10 seconds'
    from accounts, generate_series(1, 5000) n where id = (select min(account_id) from payments)`);
  await settle();
  expect(await pagesRead(quiet.scene.admin.db, db => purgeIdempotencyKeys(db, 100))).toBeLessThanOrEqual(20);
  await run(`update idempotency_keys set created_at = created_at - interval '1 day' where key::int > 4990`);
  expect(await purgeIdempotencyKeys(quiet.context.db, 100)).toBe(10);
});
