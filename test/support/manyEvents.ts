import { firstIdAt } from '../../src/core/ids.ts';
import type { Database } from '../../src/storage/database.ts';

export type ManyEvents = {
  readonly accountId: string;
  readonly paymentId: string;
  /** The millisecond that all of them happen in. */
  readonly atMs: number;
  /** The sequence of the first, and how many there are. */
  readonly first: number;
  readonly count: number;
  readonly type?: string;
};

/** The id of the event with this sequence. */
export const manyEventId = (atMs: number, sequence: number): string =>
  firstIdAt('event', atMs).slice(0, 14) + String(sequence).padStart(16, '0');

/** Events of one sandbox payment, more than could be made by what happens to it. They have no deliveries. */
export const writeManyEvents = (db: Database, events: ManyEvents): Promise<void> => {
  const { accountId, paymentId, atMs, first, count, type = 'payment.stray' } = events;
  return db.script(`insert into events (account_id, environment, id, payment_id, sequence, type, status, previous_status,
      body, created_at)
    select '${accountId}', 'sandbox', '${firstIdAt('event', atMs).slice(0, 14)}' || lpad(n::text, 16, '0'), '${paymentId}',
      n, '${type}', 'pending', 'pending', '{"sequence":' || n || '}', to_timestamp(${atMs} / 1000.0)
    from generate_series(${first}, ${first + count - 1}) n`);
};
