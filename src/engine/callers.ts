import { FlorinError } from '../core/errors.ts';
import { type Caller, readCallers } from '../storage/accounts.ts';
import type { Database } from '../storage/database.ts';
import { createBatcher } from './batch.ts';

/**
 * Who a key belongs to, read again when the answer is half a second old: a revoked key is refused within a second on
 * every process, with no message between them that could be lost.
 */
export type Callers = {
  /** At once where the answer is fresh, which under load it nearly always is. */
  find(hash: string): Caller | null | Promise<Caller | null>;
};

const freshMs = 500;
const maximumEntries = 20_000;

export const createCallers = (db: Database, nowMs: () => number): Callers => {
  const known = new Map<string, { caller: Caller; readMs: number }>();
  const read = createBatcher<string, Caller | null>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    async run(hashes) {
      const readMs = nowMs();
      const rows = await readCallers(db, hashes);
      if (known.size > maximumEntries) known.clear();
      const found = new Map(rows.map(row => [row.hash, row]));
      for (const [hash, caller] of found) known.set(hash, { caller, readMs });
      return hashes.map(hash => found.get(hash) ?? null);
    },
  });
  return {
    find(hash) {
      const entry = known.get(hash);
      if (entry && nowMs() - entry.readMs < freshMs) return entry.caller;
      return read(hash);
    },
  };
};
