import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { eventColumns, type SealedEvent } from './sealedEvents.ts';

/** To be held against its seal before it is used. */
export type EventRow = Row & SealedEvent & { readonly seal: Buffer | null };

export type EventFilter = {
  readonly type: string | null;
  readonly paymentId: string | null;
  /** Ids begin with their time, so a time range is an id range. */
  readonly firstId: string;
  readonly lastId: string;
};

const inRange = 'account_id = $1 and environment = $2 and id between $3 and $4 and id < $5';
const newest = 'order by id desc limit $6';
const listStatement = { name: 'event-list', text: `select ${eventColumns} from events e where ${inRange} ${newest}` };
const ofTypeStatement = {
  name: 'event-list-type',
  text: `select ${eventColumns} from events e where ${inRange} and type = $7 ${newest}`,
};
// Reads the payment's history by its own index, and filters only its rows. As one flat query, the planner may search
// all events of the account. The cursor stands for its place in the history, or for its time if it is not in it.
const ofPaymentStatement = {
  name: 'event-list-payment',
  text: `with place as materialized (
      select sequence from events where account_id = $1 and environment = $2 and id = $5 and payment_id = $7
    ), history as not materialized (
      select * from events where account_id = $1 and environment = $2 and payment_id = $7
        and sequence < coalesce((select sequence from place), 2147483647)
      order by sequence desc offset 0
    )
    select ${eventColumns} from history e where id between $3 and $4 and ((select sequence from place) > 0 or id < $5)
      and ($8::text is null or type = $8)
    order by sequence desc limit $6`,
};
/** Above every id, for the first page: an optional condition could not use the index. */
const aboveAllIds = 'evt_~';
/** Events of an account, newest first, below the id `before`. */
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
    page.before ?? aboveAllIds,
    page.limit,
  ];
  if (filter.paymentId !== null) return db.query(ofPaymentStatement, [...values, filter.paymentId, filter.type]);
  if (filter.type !== null) return db.query(ofTypeStatement, [...values, filter.type]);
  return db.query(listStatement, values);
};

const readStatement = {
  name: 'event-read',
  text: `select ${eventColumns} from events e where account_id = $1 and environment = $2 and id = $3`,
};
export const readEvent = async (db: Queryable, scope: Scope, id: string): Promise<EventRow | null> =>
  (await db.query<EventRow>(readStatement, [scope.accountId, scope.environment, id]))[0] ?? null;

const sinceStatement = {
  name: 'event-since',
  text: `select ${eventColumns} from events e where account_id = $1 and environment = $2 and id >= $3 order by id limit $4`,
};
/** Oldest first. Ids are made before the commit, so an event may appear below ids that were already read. */
export const eventsSince = (db: Queryable, scope: Scope, firstId: string, limit: number): Promise<EventRow[]> =>
  db.query<EventRow>(sinceStatement, [scope.accountId, scope.environment, firstId, limit]);
