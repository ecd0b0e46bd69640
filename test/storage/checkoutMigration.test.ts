import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { type EarlierDatabase, openEarlierDatabase } from './earlierDatabase.ts';

let earlier: EarlierDatabase;
let db: Database;

/** A database as it was before there was a checkout. */
beforeEach(async () => {
  earlier = await openEarlierDatabase('0006');
  db = earlier.db;
});

const upgrade = () => earlier.upgrade();
const definition = async (): Promise<unknown> => {
  const [row] = await db.query<{ text: string }>({
    name: '',
    text: `select pg_get_indexdef('payments_id'::regclass) as text`,
  });
  return row!.text;
};
const needed = 'CREATE UNIQUE INDEX payments_id ON public.payments USING btree (id)';

test('builds the index over all payments', { tags: ['thorough'] }, async () => {
  await upgrade();
  expect(await definition()).toBe(needed);
});

test('takes the index that was built before, while payments were created', { tags: ['thorough'] }, async () => {
  await db.script('create unique index concurrently payments_id on payments (id)');
  await upgrade();
  expect(await definition()).toBe(needed);
});

test.each([
  [
    'left over from a build that failed',
    `create unique index payments_id on payments (id);
    update pg_index set indisvalid = false where indexrelid = 'payments_id'::regclass`,
  ],
  ['that lets two payments have one id', 'create index payments_id on payments (id)'],
  ['of something else', 'create unique index payments_id on payments (id, address)'],
])('refuses an index %s, and takes the right one after it', { tags: ['thorough'] }, async (_, sql) => {
  await db.script(sql);
  await expect(upgrade()).rejects.toThrow(/payments_id is not the one/);
  await db.script('drop index payments_id');
  await upgrade();
  expect(await definition()).toBe(needed);
});
