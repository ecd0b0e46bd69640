import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { type Database, isUnavailable, openDatabase } from '../../src/storage/database.ts';
import { cloneDatabase } from '../support/databases.ts';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  const settings = { log: silentLog, maxConnections: 1, queryTimeoutMs: 200 };
  db = openDatabase({ connectionString: clone.url }, settings);
});

const stuck = { name: 'test-stuck', text: 'select pg_sleep(600)' };
const quick = { name: 'test-quick', text: 'select 1 as one' };

const running = {
  name: 'test-running',
  text: `select pid from pg_stat_activity where query like 'select pg_sleep(600)%'`,
};

test('a statement that takes too long is an unavailable database, and the server does not go on with it', async () => {
  expect(isUnavailable(await db.query(stuck).catch((error: unknown) => error))).toBe(true);
  expect(await db.query(running)).toEqual([]);
  expect(await db.query(quick)).toEqual([{ one: 1 }]);
});

test('so is a server that does not answer at all, and its connection is given up', async () => {
  const unlimited = { name: 'test-unlimited', text: 'set local statement_timeout = 0' };
  const failed = await db
    .transaction(async tx => {
      await tx.query(unlimited);
      await tx.query(stuck);
    })
    .catch((error: unknown) => error);
  expect(isUnavailable(failed)).toBe(true);
  expect(await db.query(quick)).toEqual([{ one: 1 }]);
  await db.script(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where query like '%pg_sleep(600)%'
    and pid <> pg_backend_pid()`);
});

test('maintenance takes its time, and the limit holds again afterwards', async () => {
  await db.script('select pg_sleep(0.4)');
  expect(isUnavailable(await db.query(stuck).catch((error: unknown) => error))).toBe(true);
});

test('so is one inside a transaction', async () => {
  const failed = await db.transaction(tx => tx.query(stuck)).catch((error: unknown) => error);
  expect(isUnavailable(failed)).toBe(true);
  expect(await db.query(quick)).toEqual([{ one: 1 }]);
});

test('a fault of our own is not taken for the database', async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const failed = await db.query({ name: 'test-text', text: 'select $1::text' }, [circular]).catch((e: unknown) => e);
  expect(failed).toBeInstanceOf(TypeError);
  expect(isUnavailable(failed)).toBe(false);
});
