import { afterAll, beforeAll, expect, test } from 'vitest';
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
afterAll(async () => {
  await db.close();
  await clone.drop();
});

const stuck = { name: 'test-stuck', text: 'select pg_sleep(600)' };
const quick = { name: 'test-quick', text: 'select 1 as one' };

test('a statement that is not answered in time is an unavailable database, and its connection is given up', async () => {
  expect(isUnavailable(await db.query(stuck).catch((error: unknown) => error))).toBe(true);
  expect(await db.query(quick)).toEqual([{ one: 1 }]);
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
