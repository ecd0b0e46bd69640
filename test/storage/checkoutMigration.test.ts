import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

const folder = new URL('../../src/storage/migrations/', import.meta.url);
const first = '0006';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;

/** A database as it was before there was a checkout. */
beforeEach(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  await db.script(`drop schema public cascade; create schema public; create table schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz(3) not null default now())`);
  const names = (await readdir(folder)).sort().filter(name => name < first);
  for (const name of names) {
    const sql = await readFile(new URL(name, folder), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    await db.script(sql);
    await db.script(
      `insert into schema_migrations values (${Number(name.slice(0, 4))}, '${name}', '${checksum}', default)`,
    );
  }
});
afterEach(async () => {
  await db.close();
  await clone.drop();
});

const upgrade = () => migrate({ connectionString: clone.url }, { log: silentLog });
const definition = async (): Promise<unknown> => {
  const [row] = await db.query<{ text: string }>({
    name: '',
    text: `select pg_get_indexdef('payments_id'::regclass) as text`,
  });
  return row!.text;
};
const needed = 'CREATE UNIQUE INDEX payments_id ON public.payments USING btree (id)';

test('builds the index over all payments', async () => {
  await upgrade();
  expect(await definition()).toBe(needed);
});

test('takes the index that was built before, while payments were created', async () => {
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
])('refuses an index %s, and takes the right one after it', async (_, sql) => {
  await db.script(sql);
  await expect(upgrade()).rejects.toThrow(/payments_id is not the one/);
  await db.script('drop index payments_id');
  await upgrade();
  expect(await definition()).toBe(needed);
});
