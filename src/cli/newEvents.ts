import { setTimeout as pause } from 'node:timers/promises';
import type { Scope } from '../core/environment.ts';
import { firstIdAt } from '../core/ids.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { isEventSealed } from '../engine/webhooks/eventSeal.ts';
import { isUnavailable } from '../storage/database.ts';
import { type EventRow, eventsSince } from '../storage/webhooks/eventLog.ts';

const lookMs = 200;
/** Finds events whose transaction took up to this long to commit. */
const lookBackMs = 15_000;
const pageSize = 200;

type Events = Pick<AdminContext, 'db' | 'clock' | 'vault'>;

/** Yields each new event of the account once, starting now. While the database is unavailable, it retries. */
export async function* newEvents(admin: Events, scope: Scope, signal: AbortSignal): AsyncGenerator<EventRow> {
  const startMs = admin.clock.nowMs();
  let lookedMs = startMs;
  let known = new Set<string>();
  let isAway = false;
  while (!signal.aborted) {
    try {
      await admin.clock.synchronize();
      const nowMs = admin.clock.nowMs();
      const rows = await allSince(admin, scope, firstIdAt('event', Math.max(startMs, lookedMs - lookBackMs)));
      const isNew = ({ id }: EventRow): boolean => !known.has(id);
      for (const row of rows.filter(isNew)) {
        if (isEventSealed(admin.vault, row)) yield row;
        else console.error(`Event ${row.id} was changed in the database. It is left out.`);
      }
      known = new Set(rows.map(({ id }) => id));
      lookedMs = nowMs;
      isAway = false;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (!isAway) console.error('Cannot reach Florin. Trying again until it answers.');
      isAway = true;
    }
    await pause(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

const allSince = async ({ db }: Events, scope: Scope, firstId: string): Promise<EventRow[]> => {
  const rows: EventRow[] = [];
  for (;;) {
    const page = await eventsSince(db, scope, rows.at(-1)?.id ?? firstId, pageSize);
    rows.push(...page.slice(rows.length === 0 ? 0 : 1));
    if (page.length < pageSize) return rows;
  }
};
