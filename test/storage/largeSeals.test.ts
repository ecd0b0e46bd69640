import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockSeals } from '../../src/storage/chain/blockSeals.ts';
import type { Database, Row } from '../../src/storage/database.ts';
import { readLargeRows, writeLargeSeals } from '../../src/storage/largeSeals.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  await db.script(`insert into chains (caip2, fence) values ('eip155:5', 1);
    insert into blocks (caip2, hash, number, parent_hash, timestamp, canonical, empty, row_seal)
    select 'eip155:5', '0x' || i, i, '0x' || (i - 1), to_timestamp(i), true, true,
      case when i < 8 then decode(repeat('00', 32), 'hex') end from generate_series(1, 9) i`);
});
afterAll(async () => {
  await db.close();
  await clone.drop();
});

const page = (after: string | null) => readLargeRows(db, blockSeals, { after, limit: 5, all: false });

test('a page ends after so many rows, however few of them need a seal', async () => {
  const first = await page(null);
  const second = await page(first.at(-1)!.key);
  expect(first.map(({ values }) => values)).toEqual([null, null, null, null, null]);
  expect(second.map(({ values }) => values?.[1] ?? null)).toEqual([null, null, '0x8', '0x9']);
});

test('a row that another process has sealed meanwhile keeps that seal', async () => {
  const { key } = (await page(null))[0]!;
  const [read, other] = [{ key, seal: randomBytes(32) }, randomBytes(32)];
  await writeLargeSeals(db, blockSeals, [{ key, seal: other }], true);
  await writeLargeSeals(db, blockSeals, [read], false);
  const stored = { name: '', text: `select row_seal as seal from blocks where hash = '0x1'` };
  expect((await db.query<Row & { seal: Buffer }>(stored))[0]!.seal).toEqual(other);
});
