import type { Database } from './database.ts';

const now = { name: 'clock-now', text: `select extract(epoch from clock_timestamp()) * 1000 as ms` };

/** The database's clock as seen from this process, without a query for each reading. */
export type DatabaseClock = { nowMs(): number; synchronize(): Promise<void> };

/**
 * Every process must stamp with one clock, or a payment created on a fast node would live longer than it says. The offset
 * is taken from the reading with the shortest round trip of a few.
 */
export const createDatabaseClock = (database: Database, monotonicMs: () => number): DatabaseClock => {
  let offsetMs = 0;
  return {
    nowMs: () => Math.floor(monotonicMs() + offsetMs),
    async synchronize() {
      let bestMs = Number.POSITIVE_INFINITY;
      let bestOffset = offsetMs;
      for (let i = 0; i < 3; i++) {
        const before = monotonicMs();
        const [row] = await database.query<{ ms: string }>(now);
        const after = monotonicMs();
        if (after - before < bestMs) {
          bestMs = after - before;
          bestOffset = Number(row!.ms) - (before + after) / 2;
        }
      }
      offsetMs = bestOffset;
    },
  };
};
