import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../../src/storage/databaseClock.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

const hourMs = 3_600_000;
let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
});

/** The machine's clocks, moved by the tests. */
let monotonicMs: number;
let wallMs: number;
const pass = (ms: number): void => {
  monotonicMs += ms;
  wallMs += ms;
};
const clockOn = (database: Queryable): DatabaseClock =>
  createDatabaseClock(database, { monotonicMs: () => monotonicMs, wallMs: () => wallMs });
const databaseMs = async (): Promise<number> => {
  const text = 'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms';
  return (await db.query<{ ms: number }>({ name: 'test-now', text }))[0]!.ms;
};
const expectSynchronized = async (clock: DatabaseClock): Promise<void> => {
  const before = await databaseMs();
  await clock.synchronize();
  expect(clock.nowMs()).toBeGreaterThanOrEqual(before);
  expect(clock.nowMs()).toBeLessThanOrEqual(await databaseMs());
};

beforeEach(() => {
  monotonicMs = 5_000;
  wallMs = 1_000_000;
});

describe('the clock', () => {
  test('is the database’s, whatever the machine’s clocks say, and advances with the monotonic one', async () => {
    const clock = clockOn(db);
    await expectSynchronized(clock);
    const start = clock.nowMs();
    pass(250);
    expect(clock.nowMs() - start).toBe(250);
  });

  test('counts the time a machine has slept, and after the next synchronisation no longer', async () => {
    const clock = clockOn(db);
    await clock.synchronize();
    const start = clock.nowMs();
    wallMs += 8 * hourMs;
    pass(10);
    expect(clock.nowMs() - start).toBe(8 * hourMs + 10);
    await expectSynchronized(clock);
  });

  test.each([1_000, -1_001, -hourMs])('ignores a wall clock that moved by %i ms', async movedMs => {
    const clock = clockOn(db);
    await clock.synchronize();
    const start = clock.nowMs();
    wallMs += movedMs;
    pass(10);
    expect(clock.nowMs() - start).toBe(10);
  });

  test('a sleep in the middle of a reading does not spoil the synchronisation', async () => {
    let readings = 0;
    const sleepy: Queryable = {
      async query(statement, values) {
        const found = await db.query<never>(statement, values);
        if (++readings === 1) wallMs += hourMs;
        return found;
      },
    };
    await expectSynchronized(clockOn(sleepy));
    expect(readings).toBe(3);
  });
});
