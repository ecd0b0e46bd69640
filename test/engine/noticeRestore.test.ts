import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { detectRestore } from '../../src/engine/detectRestore.ts';
import type { Database } from '../../src/storage/database.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  await db.script(`insert into derivation_counters (series, next) values ('acct/sandbox', 7), ('xpub/abc', 7)`);
});

const counters = () =>
  db.query<{ series: string; next: string }>({
    name: 'test-counters',
    text: 'select series, next from derivation_counters order by series',
  });
const warnings: string[] = [];
const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
const before = [
  { series: 'acct/sandbox', next: '7' },
  { series: 'xpub/abc', next: '7' },
];

test('the first start and every later one on the same database leave the indexes alone', async () => {
  await detectRestore(db, log);
  await detectRestore(db, log);
  expect(await counters()).toEqual(before);
  expect(warnings).toEqual([]);
});

test('a database that is not the one it was jumps ahead, once, whoever starts', async () => {
  // After a restore, the rows of one database are in another.
  await db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
  await Promise.all([detectRestore(db, log), detectRestore(db, log), detectRestore(db, log)]);
  expect(await counters()).toEqual([
    { series: 'acct/sandbox', next: '1000007' },
    { series: 'xpub/abc', next: '107' },
  ]);
  expect(warnings).toEqual(['the database was restored or moved: derivation indexes jump ahead']);
});
