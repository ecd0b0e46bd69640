import type { Queryable } from './database.ts';

const now = { name: 'clock-now', text: `select extract(epoch from clock_timestamp()) * 1000 as ms` };

/** The database's clock as seen from this process, without a query for each reading. */
export type DatabaseClock = { nowMs(): number; synchronize(): Promise<void> };

export type LocalClocks = {
  /** Never steps, but stands still while the machine sleeps. */
  readonly monotonicMs: () => number;
  /** Goes on while the machine sleeps, but may be set to anything. */
  readonly wallMs: () => number;
};

/** More than clocks drift apart, or a wall clock is slewed, between two synchronisations. */
const leastSleepMs = 1_000;

/**
 * Every process must stamp with one clock, or a payment created on a fast node would live longer than it says. The offset
 * is taken from the reading with the shortest round trip of a few. Where the wall clock has left the monotonic one behind
 * since then, the machine has slept, and until the next synchronisation the wall clock tells for how long; a wall clock
 * that was set back tells nothing.
 */
export const createDatabaseClock = (database: Queryable, { monotonicMs, wallMs }: LocalClocks): DatabaseClock => {
  const leadMs = (): number => wallMs() - monotonicMs();
  let offsetMs = 0;
  let syncedLeadMs = leadMs();
  return {
    nowMs() {
      const readMs = monotonicMs();
      const gainedMs = wallMs() - readMs - syncedLeadMs;
      return Math.floor(readMs + offsetMs + (gainedMs > leastSleepMs ? gainedMs : 0));
    },
    async synchronize() {
      let best: { tripMs: number; offsetMs: number; leadMs: number } | null = null;
      for (let i = 0; i < 3; i++) {
        const before = monotonicMs();
        const leadBefore = leadMs();
        const [row] = await database.query<{ ms: string }>(now);
        const tripMs = monotonicMs() - before;
        // A trip during which the machine slept looks short and says nothing of when the answer was made.
        if (Math.abs(leadMs() - leadBefore) > leastSleepMs) continue;
        if (best && best.tripMs <= tripMs) continue;
        best = { tripMs, offsetMs: Number(row!.ms) - (before + tripMs / 2), leadMs: leadBefore };
      }
      if (!best) return;
      offsetMs = best.offsetMs;
      syncedLeadMs = best.leadMs;
    },
  };
};
