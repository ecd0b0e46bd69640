import { beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { loadRelease, type Release } from '../../src/storage/release.ts';
import { dumpSchema } from '../../src/storage/schemaDump.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { expandFaults, readSchema, type Schema, textFaults } from './expandRules.ts';

const own = await loadRelease();
const before: Release = { ...own, migrations: own.migrations.slice(0, own.before) };
const expansions = own.migrations.filter(({ phase }) => phase === 'expand');

let url: string;
let db: Database;
let earlier: Schema;
beforeAll(async () => {
  const clone = await cloneDatabase();
  url = clone.url;
  db = openTestDatabase(url);
  await db.script('drop schema public cascade; create schema public');
  await migrate({ connectionString: url }, { log: silentLog, release: before });
  earlier = await readSchema(db);
});

test('the release before can live with each expansion, and an upgrade makes the schema of a new database', async () => {
  await migrate({ connectionString: url }, { log: silentLog });
  expect(expandFaults(earlier, await readSchema(db))).toEqual([]);
  await migrate({ connectionString: url }, { log: silentLog, finish: 'always' });
  const upgraded = await dumpSchema(db);
  const fresh = openTestDatabase((await cloneDatabase()).url);
  const sorted = (text: string): string[] => text.split('\n').sort();
  expect(sorted(upgraded)).toEqual(sorted(await dumpSchema(fresh)));
});

test.for(expansions)('$name changes no rows and locks no large table', ({ sql }) => {
  expect(textFaults(sql, earlier.tables)).toEqual([]);
});

describe('the rules find', () => {
  const allowed = [
    'alter table payments add column note text',
    'alter table payments add column note text not null default 0',
    'alter table payments add column note text check (length(note) < 9)',
    'alter table events add column other uuid, add unique (account_id, other)',
    'alter table people add column note text',
    'create table later (id integer primary key check (id > 0), at timestamptz not null)',
    'create table later (account_id text not null references accounts (id))',
    'create table later (token bytea references sessions (token_hash) on delete cascade)',
    'create index later on rescans (caip2)',
    `alter type payment_exception add value 'lost'`,
    `alter table payments add column note text; create trigger later before update on payments for each row
      when (old.note is distinct from new.note) execute function refuse_change('a change')`,
  ];
  test.for(allowed)('nothing in: %s', async sql => {
    expect(await faultsOf(sql)).toEqual([]);
  });

  const refused: readonly (readonly [sql: string, fault: RegExp])[] = [
    ['alter table payments drop column amount cascade', /column payments amount is gone/],
    ['alter table payments rename column metadata to data', /column payments metadata is gone/],
    ['alter table payments rename to requests', /column payments amount is gone/],
    ['drop table stopped_callbacks', /column stopped_callbacks .* is gone/],
    ['alter table payments alter column description set not null', /column payments description changed/],
    ['alter table rescans alter column caip2 type varchar(50)', /column rescans caip2 changed/],
    ['alter table payments alter column sequence drop default', /column payments sequence changed/],
    ['alter table payments add column note text not null', /note is not null without a default/],
    [`alter table people add column note text default ''`, /note has a default, and the seals/],
    ['alter table payments add check (amount > 5)', /binds columns that the release before writes/],
    ['alter table payments add column note text, add check (note is null or amount > 5)', /binds columns/],
    ['alter table rescans add unique (caip2)', /binds columns that the release before writes/],
    ['create unique index later on rescans (caip2)', /binds columns that the release before writes/],
    ['create table later (token bytea references sessions (token_hash))', /keeps the release before from deleting/],
    [
      `create trigger later before insert on payments for each row execute function refuse_change('a change')`,
      /trigger payments later fires for what/,
    ],
    ['drop trigger audit_log_frozen on audit_log', /trigger audit_log audit_log_frozen is gone/],
    ['alter domain base_units drop constraint base_units_check', /domain {2}base_units changed/],
    [
      `create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'`,
      /function {2}refuse_change\(\) changed/,
    ],
  ];
  test.for(refused)('%s', async ([sql, fault]) => {
    expect((await faultsOf(sql)).join('\n')).toMatch(fault);
  });

  test('what only the text shows', () => {
    const faults = (sql: string) => textFaults(sql, earlier.tables);
    expect(faults(`-- update payments\nupdate later set a = 1; create index concurrently a on payments (b)`)).toEqual(
      [],
    );
    expect(faults('update payments set note = 1')).toHaveLength(1);
    expect(faults('create table a (b integer);\n\n delete from blocks')).toHaveLength(1);
    expect(faults('lock table people in exclusive mode')).toHaveLength(1);
    expect(faults('create index a\n on payments (b)')).toHaveLength(1);
  });
});

/** What the rules say about a change, which is undone. */
const faultsOf = async (sql: string): Promise<string[]> => {
  const copy = await cloneDatabase();
  const changed = openTestDatabase(copy.url);
  const unchanged = await readSchema(changed);
  await changed.script(sql);
  const faults = expandFaults(unchanged, await readSchema(changed));
  await changed.close();
  return faults;
};
