import { beforeAll, expect, test } from 'vitest';
import { type Database, isUnavailable } from '../../src/storage/database.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
let other: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  other = openTestDatabase(clone.url);
});

const backend = { name: 'test-backend', text: 'select pg_backend_pid() as pid' };
const terminate = { name: 'test-terminate', text: 'select pg_terminate_backend($1, 5000) as ended' };

test('a connection that ends between two statements of a transaction is an unavailable database, not a crash', async () => {
  const failed = await db
    .transaction(async tx => {
      const [row] = await tx.query<{ pid: number }>(backend);
      await other.query(terminate, [row!.pid]);
      // The driver notices the end while no statement runs; an error event without a listener would end the process.
      await new Promise(resolve => setImmediate(resolve));
      await tx.query(backend);
    })
    .catch((error: unknown) => error);
  expect(isUnavailable(failed)).toBe(true);
  expect(await db.query(backend)).toHaveLength(1);
});
