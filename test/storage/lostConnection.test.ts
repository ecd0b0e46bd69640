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

test('a statement after the end of its transaction is refused, and not committed by itself', async () => {
  let left: Promise<unknown> = Promise.resolve();
  const failing = db.transaction(async tx => {
    // What goes on after the work has failed.
    left = tx.query(backend).then(() => tx.query(backend));
    left.catch(() => {});
    await Promise.reject(new Error('the work failed'));
  });
  await expect(failing).rejects.toThrow('the work failed');
  await expect(left).rejects.toThrow('test-backend was sent after its transaction had ended');
});
