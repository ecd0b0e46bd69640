import type { Queryable } from './database.ts';

const millisecondsStatement = { name: 'clock-now', text: `select extract(epoch from clock_timestamp()) * 1000 as ms` };

const nowStatement = { name: 'clock-read', text: 'select clock_timestamp()::timestamptz(3) as now' };
/** The time at which the statement runs, not at which its transaction began. */
export const readNow = async (db: Queryable): Promise<Date> => (await db.query<{ now: Date }>(nowStatement))[0]!.now;

/** The database's clock as seen from this process, without a query for each reading. */
export type DatabaseClock = { nowMs(): number; synchronize(): Promise<void> };

export type LocalClocks = {
  /** Never jumps, but stops while the machine sleeps. */
  readonly monotonicMs: () => number;
  /** Runs on while the machine sleeps, but may be set to any time. */
  readonly wallMs: () => number;
};

/** Clock drift and slewing stay below this between two synchronisations; a larger gain means that the machine slept. */
const leastSleepMs = 1_000;

/**
 * Every process must stamp rows with one clock, or a payment created on a fast node would live longer than it says. The
 * offset comes from the reading with the shortest round trip of three. If the wall clock has gained on the monotonic
 * one since then, the machine slept, and the gain is added until the next synchronisation. A wall clock that was set
 * back is ignored.
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
        const [row] = await database.query<{ ms: string }>(millisecondsStatement);
        const tripMs = monotonicMs() - before;
        // If the machine slept during the trip, the trip looks short and its middle is not when the database answered.
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
