import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { readFinishedVersion, readMigrationState } from '../../src/storage/appliedMigrations.ts';
import type { Database } from '../../src/storage/database.ts';
import { noteHolder, noteHolderGone } from '../../src/storage/keys/keyState.ts';
import { type MigrateOptions, migrate } from '../../src/storage/migrate.ts';
import { MigrationError } from '../../src/storage/release.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { nextReleases } from './nextReleases.ts';

const [own, next, afterNext] = await nextReleases(
  [
    ['expand', 'alter table key_holders add column note text'],
    ['contract', 'alter table key_holders drop column note'],
  ],
  [
    ['expand', 'create table later (id integer)'],
    ['expand', 'create index concurrently later_ids on key_holders (roles)'],
  ],
);
const newest = own!.migrations.length;

let url: string;
let db: Database;
beforeEach(async () => {
  const clone = await cloneDatabase();
  url = clone.url;
  db = openTestDatabase(url);
});

const bring = (release = own, options: Partial<MigrateOptions> = {}) =>
  migrate({ connectionString: url }, { log: silentLog, release: release!, ...options });
const print = 'a'.repeat(32);
/** A process of a release says that it runs. */
const run = (holder: string, release = own) =>
  noteHolder(db, {
    holder,
    makes: print,
    accepts: null,
    knows: release!.migrations.length,
    roles: 'api, watch',
    isNew: true,
  });
const read = (text: string) => db.query<Record<string, unknown>>({ name: `test-${text.slice(0, 50)}`, text });
const hasNote = async () =>
  (await read(`select 1 from pg_attribute where attrelid = 'key_holders'::regclass and attname = 'note'`)).length === 1;
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MigrationError);
  return (error as Error).message;
};

test('a new database is finished at once', async () => {
  expect(await readFinishedVersion(db)).toBe(newest);
  expect(await bring()).toEqual({ applied: 0, version: newest, finished: newest });
  expect(await readMigrationState(db)).toEqual({ pending: 0, unfinished: 0 });
  await db.script('drop schema public cascade; create schema public');
  expect(await bring(next)).toEqual({ applied: newest + 2, version: newest + 2, finished: newest + 2 });
});

describe('the next release', () => {
  test('expands the database beside this one, which can come back until the upgrade is finished', async () => {
    await run('old');
    expect(await bring(next)).toEqual({ applied: 1, version: newest + 2, finished: newest });
    expect(await hasNote()).toBe(true);
    await run('new', next);
    expect(await bring(next)).toMatchObject({ applied: 0 });
    expect(await bring()).toEqual({ applied: 0, version: newest, finished: newest });
    expect(await readMigrationState(db)).toEqual({ pending: 0, unfinished: 0 });
    expect((await run('old')).finished).toBe(newest);
  });

  test('is finished when no process of this one runs any more; this one is then refused', async () => {
    await bring(next);
    await run('old');
    await run('new', next);
    expect(await refusal(bring(next, { finish: 'always' }))).toMatch(/earlier version run .*: old \(api, watch\)\. /);
    expect([await hasNote(), await readFinishedVersion(db)]).toEqual([true, newest]);

    await noteHolderGone(db, 'old');
    expect(await bring(next, { finish: 'always' })).toEqual({ applied: 1, version: newest + 2, finished: newest + 2 });
    expect(await hasNote()).toBe(false);
    expect(await read('select version from schema_expansions')).toEqual([]);
    expect(await bring(next, { finish: 'always' })).toMatchObject({ applied: 0 });
    expect(await refusal(bring())).toMatch(/is finished \(migration \d+_next.sql\): run that version/);
    expect(await refusal(readMigrationState(db))).toMatch(/is finished/);
    expect((await run('new', next)).finished).toBe(newest + 2);
  });

  test('counts a process that does not say what it knows as one of the release before', async () => {
    await bring(next);
    await run('here', next);
    // The process of an earlier release in the same data directory says only that it runs.
    await db.script(`update key_holders set seen_at = clock_timestamp() where holder = 'here'`);
    expect(await refusal(bring(next, { finish: 'always' }))).toContain('here');
    await run('here', next);
    expect(await bring(next, { finish: 'always' })).toMatchObject({ finished: newest + 2 });
  });

  test('does not count a process that has been silent for half a minute', async () => {
    await bring(next);
    await run('killed');
    await db.script(
      `update key_holders set seen_at = seen_at - interval '31 seconds', knows_at = knows_at - interval '31 seconds'`,
    );
    expect(await bring(next, { finish: 'always' })).toMatchObject({ finished: newest + 2 });
  });

  test('finishes the upgrade of a database that it has for itself', async () => {
    await run('here');
    await run('elsewhere');
    expect(await bring(next, { finish: 'if alone', holder: 'here' })).toMatchObject({ finished: newest });
    await noteHolderGone(db, 'elsewhere');
    expect(await bring(next, { finish: 'if alone', holder: 'here' })).toMatchObject({ finished: newest + 2 });
  });
});

describe('the release after the next', () => {
  test('does not run beside this one, and finishes the upgrade that was left unfinished', async () => {
    await bring(next);
    await run('old');
    expect(await refusal(bring(afterNext))).toContain('old');
    await noteHolderGone(db, 'old');
    await run('newer', next);
    // As a run that was interrupted leaves it.
    await db.script('create index later_ids on key_holders (seen_at)');
    expect(await bring(afterNext)).toEqual({ applied: 3, version: newest + 4, finished: newest + 2 });
    expect(await hasNote()).toBe(false);
    expect(await read(`select pg_get_indexdef('later_ids'::regclass) like '%(roles)' as built`)).toEqual([
      { built: true },
    ]);
    expect(await bring(next)).toMatchObject({ applied: 0, finished: newest + 2 });
    await refusal(bring());
  });

  test('is not one whose migrations this one accepts', async () => {
    await db.script(`delete from schema_migrations where version = ${newest};
      insert into schema_expansions select ${newest + 1}, 'later', 'x'`);
    expect(await refusal(bring())).toMatch(/newer than the next release/);
  });
});

test('a migration that waits for a lock lets others read, and tries again', async () => {
  const holding = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const reader = db.transaction(async tx => {
    await tx.query({ name: 'test-hold', text: 'lock table key_holders in access share mode' });
    held.resolve();
    await holding.promise;
  });
  await held.promise;
  const migrating = bring(next);
  const waiting = `select 1 from pg_locks where relation = 'key_holders'::regclass and not granted`;
  await until(
    () => read(waiting),
    rows => rows.length > 0,
  );
  // It waits behind the migration, which gives up while the lock is still held.
  await read('select holder from key_holders');
  holding.resolve();
  await reader;
  expect(await migrating).toMatchObject({ applied: 1 });
});
