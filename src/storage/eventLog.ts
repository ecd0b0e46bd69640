import type { Scope } from '../core/environment.ts';
import type { Queryable, Row } from './database.ts';

export type EventRow = Row & { id: string; body: string };

export type EventFilter = {
  readonly type: string | null;
  readonly paymentId: string | null;
  /** Ids carry their time, so a range of time is one of ids. */
  readonly firstId: string;
  readonly lastId: string;
};

const mine = 'account_id = $1 and environment = $2 and id between $3 and $4 and id < $5';
const newest = 'order by id desc limit $6';
const listStatement = { name: 'event-list', text: `select id, body from events where ${mine} ${newest}` };
const ofTypeStatement = {
  name: 'event-list-type',
  text: `select id, body from events where ${mine} and type = $7 ${newest}`,
};
// In the order of the payment's own history, by the index that has it; the other conditions are for its rows only. All at
// once, they let the database look through the events of everybody for those of one payment. A cursor stands for its place
// in the history, or in time where it has none.
const ofPaymentStatement = {
  name: 'event-list-payment',
  text: `with place as materialized (
      select sequence from events where account_id = $1 and environment = $2 and id = $5 and payment_id = $7
    ), history as not materialized (
      select id, sequence, type, body from events where account_id = $1 and environment = $2 and payment_id = $7
        and sequence < coalesce((select sequence from place), 2147483647)
      order by sequence desc offset 0
    )
    select id, body from history where id between $3 and $4 and ((select sequence from place) > 0 or id < $5)
      and ($8::text is null or type = $8)
    order by sequence desc limit $6`,
};
/** Above every id: where no page came before. A condition that may be absent could not be looked up in the index. */
const afterAll = 'evt_~';
/** Events of an account, the newest first, from below the id `before` on. */
export const listEvents = (
  db: Queryable,
  scope: Scope,
  filter: EventFilter,
  page: { before: string | null; limit: number },
): Promise<EventRow[]> => {
  const values = [
    scope.accountId,
    scope.environment,
    filter.firstId,
    filter.lastId,
    page.before ?? afterAll,
    page.limit,
  ];
  if (filter.paymentId !== null) return db.query(ofPaymentStatement, [...values, filter.paymentId, filter.type]);
  if (filter.type !== null) return db.query(ofTypeStatement, [...values, filter.type]);
  return db.query(listStatement, values);
};

const readStatement = {
  name: 'event-read',
  text: 'select id, body from events where account_id = $1 and environment = $2 and id = $3',
};
export const readEvent = async (db: Queryable, scope: Scope, id: string): Promise<EventRow | null> =>
  (await db.query<EventRow>(readStatement, [scope.accountId, scope.environment, id]))[0] ?? null;

const sinceStatement = {
  name: 'event-since',
  text: `select id, body from events where account_id = $1 and environment = $2 and id >= $3 order by id limit $4`,
};
/** The oldest first. Ids are made before events are committed: one may appear among others that are already known. */
export const eventsSince = (db: Queryable, scope: Scope, firstId: string, limit: number): Promise<EventRow[]> =>
  db.query<EventRow>(sinceStatement, [scope.accountId, scope.environment, firstId, limit]);
