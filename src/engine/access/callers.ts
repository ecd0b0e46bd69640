import { FlorinError } from '../../core/errors.ts';
import { type Caller, readCallers } from '../../storage/access/accounts.ts';
import { assertVouched } from '../audit/register.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';

/**
 * Finds the caller of an API key. Results are cached for half a second, so a revoked key is refused within a second on
 * every process, without messages between them that could be lost.
 */
export type Callers = {
  find(hash: string): Promise<Caller | null>;
};

const freshMs = 500;
const maximumEntries = 20_000;

export const createCallers = (context: Pick<Context, 'db' | 'log'>, nowMs: () => number): Callers => {
  const cached = new Map<string, { caller: Caller; readMs: number }>();
  const read = createBatcher<string, Caller | null>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    async run(hashes) {
      const readMs = nowMs();
      const rows = await readCallers(context.db, hashes);
      if (cached.size > maximumEntries) cached.clear();
      const found = new Map(rows.map(row => [row.hash, row]));
      for (const [hash, caller] of found) {
        // Others get the error each time they ask.
        if (caller.vouched?.isTrue) cached.set(hash, { caller, readMs });
        else cached.delete(hash);
      }
      return hashes.map(hash => found.get(hash) ?? null);
    },
  });
  return {
    async find(hash) {
      const entry = cached.get(hash);
      if (entry && nowMs() - entry.readMs < freshMs) return entry.caller;
      const caller = await read(hash);
      if (caller) assertVouched(context, caller);
      return caller;
    },
  };
};
