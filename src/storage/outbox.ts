import { columns } from './columns.ts';
import type { Queryable, Row } from './database.ts';

export type NewOutgoing = { readonly id: string; readonly kind: string; readonly content: Buffer };

const added = columns<NewOutgoing>({
  id: ['text', o => o.id],
  kind: ['text', o => o.kind],
  content: ['bytea', o => o.content],
});
const insertStatement = {
  name: 'outbox-insert',
  text: `insert into outbox (id, kind, content) select id, kind, content from ${added.rows('i')}`,
};
/** Inside the transaction of what it tells. */
export const insertOutgoing = async (tx: Queryable, outgoing: readonly NewOutgoing[]): Promise<void> => {
  if (outgoing.length > 0) await tx.query(insertStatement, added.values(outgoing));
};

/** `overdueMs`: for how long nobody tried to send it although it was due. */
export type ClaimedOutgoing = Row & NewOutgoing & { claim: number; failures: number; ageMs: number; overdueMs: number };

const claimStatement = {
  name: 'outbox-claim',
  text: `with picked as materialized (
      select id, next_attempt_at from outbox where kind = $1 and parked_at is null
        and next_attempt_at <= (select clock_timestamp())
      order by next_attempt_at limit $2 for update skip locked
    )
    update outbox o set claim = o.claim + 1, next_attempt_at = clock_timestamp() + $3 * interval '1 second'
    from picked p where o.id = p.id
    returning o.id, o.kind, o.content, o.claim, o.failures,
      (extract(epoch from clock_timestamp() - o.created_at) * 1000)::float8 as "ageMs",
      (extract(epoch from clock_timestamp() - p.next_attempt_at) * 1000)::float8 as "overdueMs"`,
};
/** Claims what is due of a kind, at most `limit`. What others claimed is skipped. */
export const claimOutgoing = (
  db: Queryable,
  kind: string,
  { limit, seconds }: { readonly limit: number; readonly seconds: number },
): Promise<ClaimedOutgoing[]> => db.query<ClaimedOutgoing>(claimStatement, [kind, limit, seconds]);

const deleteStatement = { name: 'outbox-delete', text: 'delete from outbox where id = $1 returning 1 as n' };
/** It was sent, or is not wanted any more. False if it is not there. */
export const deleteOutgoing = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.query(deleteStatement, [id])).length > 0;

type Claim = { readonly id: string; readonly claim: number };

const retryStatement = {
  name: 'outbox-retry',
  text: `update outbox set failures = failures + 1, next_attempt_at = clock_timestamp() + $3 * interval '1 millisecond'
    where id = $1 and claim = $2`,
};
export const retryOutgoing = async (db: Queryable, { id, claim }: Claim, delayMs: number): Promise<void> => {
  await db.query(retryStatement, [id, claim, delayMs]);
};

const releaseStatement = {
  name: 'outbox-release',
  text: 'update outbox set next_attempt_at = clock_timestamp() where id = $1 and claim = $2',
};
/** Gives a claim back at shutdown. */
export const releaseOutgoing = async (db: Queryable, { id, claim }: Claim): Promise<void> => {
  await db.query(releaseStatement, [id, claim]);
};

const parkStatement = {
  name: 'outbox-park',
  text: `update outbox set failures = failures + 1, parked_at = clock_timestamp(), parked_reason = left($3, 300)
    where id = $1 and claim = $2`,
};
/** It stays visible and is not tried again. */
export const parkOutgoing = async (db: Queryable, { id, claim }: Claim, reason: string): Promise<void> => {
  await db.query(parkStatement, [id, claim, reason]);
};

const parkedStatement = {
  name: 'outbox-parked',
  text: `select kind, count(*)::int as total, max(parked_at) as latest from outbox where parked_at is not null
    group by kind order by kind`,
};
export const countParkedOutgoing = (db: Queryable): Promise<(Row & { kind: string; total: number; latest: Date })[]> =>
  db.query(parkedStatement, []);

const purgeStatement = {
  name: 'outbox-purge',
  text: `with parked as materialized (
      select id from outbox where parked_at <= (select clock_timestamp()) - interval '30 days'
      order by parked_at limit $1 for update skip locked
    ), untried as materialized (
      select id from outbox where kind in ('mail', 'minor_mail', 'recovery') and parked_at is null
        and next_attempt_at <= (select clock_timestamp()) - interval '7 days'
      order by kind, next_attempt_at limit $1 for update skip locked
    )
    delete from outbox where id in (select id from parked union all select id from untried) returning 1 as n`,
};
/** Deletes what was parked 30 days ago, and mails that nobody tried to send for 7 days. Returns how many. */
export const purgeOutgoing = async (db: Queryable, limit: number): Promise<number> =>
  (await db.query(purgeStatement, [limit])).length;
