import { type DeliveryStatus, deliveryStatuses } from '../../core/delivery.ts';
import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { type EventOfDelivery, eventOfDelivery, targetOfRow } from './deliveries.ts';
import { askForDeliveries } from './deliveryNews.ts';

export type DeliveryRow = Row &
  EventOfDelivery & {
    status: DeliveryStatus;
    attempts: number;
    nextAttemptAt: Date | null;
    parkedReason: string | null;
    createdAt: Date;
    finishedAt: Date | null;
  };

const columns = `d.id, ${eventOfDelivery('d')}, coalesce(d.callback_url, w.url) as url,
  d.status, d.attempts, d.next_attempt_at as "nextAttemptAt", d.parked_reason as "parkedReason",
  d.created_at as "createdAt", d.finished_at as "finishedAt"`;
const withEventAndEndpoint = `join events e on e.account_id = d.account_id and e.environment = d.environment and e.id = d.event_id
  left join webhook_endpoints w on w.account_id = d.account_id and w.environment = d.environment and w.id = d.endpoint_id`;
const owned = 'd.account_id = $1 and d.environment = $2';

const listStatement = {
  name: 'delivery-log-endpoint',
  text: `select ${columns} from (
      select of_status.* from unnest($4::text[]) as s(status) cross join lateral (
        select * from deliveries d where ${owned} and d.endpoint_id = $3 and d.status = s.status
          and d.id < $5 order by d.id desc limit $6) of_status
      order by of_status.id desc limit $6) d
    ${withEventAndEndpoint} order by d.id desc`,
};
/** Above every id, for the first page: an optional condition could not use the index. */
const aboveAllIds = 'dlv_~';
/** Deliveries to an endpoint, newest first, below the id `before`. */
export const listDeliveries = (
  db: Queryable,
  scope: Scope,
  endpointId: string,
  page: { status: DeliveryStatus | null; before: string | null; limit: number },
): Promise<DeliveryRow[]> =>
  db.query<DeliveryRow>(listStatement, [
    scope.accountId,
    scope.environment,
    endpointId,
    page.status === null ? deliveryStatuses : [page.status],
    page.before ?? aboveAllIds,
    page.limit,
  ]);

// The status is part of the text: the planner would not use the partial index for a parameter.
const parkedStatement = {
  name: 'delivery-log-parked',
  text: `select ${columns} from (
      select * from deliveries d where ${owned} and d.status = 'parked' and d.id < $3 order by d.id desc limit $4) d
    ${withEventAndEndpoint} order by d.id desc`,
};
/** Parked deliveries, to endpoints and callbacks, newest first. */
export const listParked = (
  db: Queryable,
  scope: Scope,
  page: { before: string | null; limit: number },
): Promise<DeliveryRow[]> =>
  db.query<DeliveryRow>(parkedStatement, [scope.accountId, scope.environment, page.before ?? aboveAllIds, page.limit]);

// Delivery ids are derived from event and target, so this needs no index, whose cost every delivery would pay.
const ofEventStatement = {
  name: 'delivery-log-event',
  text: `select ${columns} from deliveries d ${withEventAndEndpoint} where ${owned} and d.id < $4 and d.id = any(array(
      select delivery_id($3, id) from webhook_endpoints where account_id = $1 and environment = $2
      union all select delivery_id($3, 'callback')))
    order by d.id desc limit $5`,
};
/** Usually few. Paged, because an account may replay an event to any number of endpoints, one after another. */
export const deliveriesOfEvent = (
  db: Queryable,
  scope: Scope,
  eventId: string,
  page: { before: string | null; limit: number },
): Promise<DeliveryRow[]> => {
  const values = [scope.accountId, scope.environment, eventId, page.before ?? aboveAllIds, page.limit];
  return db.query<DeliveryRow>(ofEventStatement, values);
};

const readStatement = {
  name: 'delivery-log-read',
  text: `select ${columns} from deliveries d ${withEventAndEndpoint} where ${owned} and d.id = $3`,
};
export const readDelivery = async (db: Queryable, scope: Scope, id: string): Promise<DeliveryRow | null> =>
  (await db.query<DeliveryRow>(readStatement, [scope.accountId, scope.environment, id]))[0] ?? null;

export type AttemptRow = Row & {
  at: Date;
  url: string;
  signature: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  response: Buffer;
};

const attemptsStatement = {
  name: 'delivery-log-attempts',
  text: `select at, url, signature, status_code as "statusCode", error, duration_ms as "durationMs", response
    from delivery_attempts where account_id = $1 and environment = $2 and delivery_id = $3
    order by claim desc limit $4`,
};
/** Newest first. */
export const listAttempts = (db: Queryable, scope: Scope, deliveryId: string, limit: number): Promise<AttemptRow[]> =>
  db.query<AttemptRow>(attemptsStatement, [scope.accountId, scope.environment, deliveryId, limit]);

/** Resets a delivery as if it were new. The claim goes up, so an attempt in progress no longer decides its outcome. */
const asNew = `status = 'scheduled', failures = 0, next_attempt_at = clock_timestamp(), parked_reason = null,
  finished_at = null, claim = d.claim + 1, claimed_by = null, claimed_until = null`;

const resendStatement = {
  name: 'delivery-resend',
  text: `with again as (
      update deliveries d set ${asNew} where ${owned} and d.id = $3
      returning d.account_id, d.environment, ${targetOfRow} as target
    )
    select ${askForDeliveries('account_id', 'environment', 'target')} from again`,
};
export const rescheduleDelivery = async (tx: Queryable, scope: Scope, id: string): Promise<void> => {
  await tx.query(resendStatement, [scope.accountId, scope.environment, id]);
};

const refusalStatement = {
  name: 'delivery-resend-refusal',
  text: `select case when w.deleted_at is not null then 'deleted' when w.status = 'disabled' then 'disabled'
      when x.payment_id is not null then 'stopped' end as refusal
    from deliveries d ${withEventAndEndpoint} left join stopped_callbacks x on d.endpoint_id is null
      and x.account_id = d.account_id and x.environment = d.environment and x.payment_id = e.payment_id
    where ${owned} and d.id = $3 for update of d`,
};
/** Why the delivery cannot be sent again; null if it can, undefined if it does not exist. Locks the row. */
export const whyNotResend = async (
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<'deleted' | 'disabled' | 'stopped' | null | undefined> => {
  type Refusal = Row & { refusal: 'deleted' | 'disabled' | 'stopped' | null };
  return (await tx.query<Refusal>(refusalStatement, [scope.accountId, scope.environment, id]))[0]?.refusal;
};

/** Ids of the next events that an endpoint subscribes to, oldest first. Each type is looked up by itself. */
const subscribed = `select e.id from unnest($3::text[]) as t(type) cross join lateral (
    select id from events where account_id = $1 and environment = $2 and type = t.type and id between $4 and $5
    order by id limit $6) e`;

const countStatement = {
  name: 'delivery-replay-count',
  text: `select count(*)::int as total from (${subscribed} limit $6) as counted`,
};
// `on conflict` finds each row by its key. A joined update would be planned from statistics, which call a table that
// has just been filled empty: it would compare all rows with all.
const replayStatement = {
  name: 'delivery-replay',
  text: `with sent as materialized (${subscribed} order by e.id limit $6), again as (
      insert into deliveries as d (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select $1, $2, delivery_id(s.id, $7), s.id, $7, clock_timestamp(), clock_timestamp() from sent s
      on conflict (account_id, environment, id) do update set ${asNew}
    )
    select count(*)::int as total, max(id) as "lastId",
      ${askForDeliveries('$1::text', '$2::environment', '$7::text')} from sent`,
};
export type ReplayRange = {
  readonly endpointId: string;
  /** The event types that it subscribes to. */
  readonly types: readonly string[];
  readonly firstId: string;
  readonly lastId: string;
};

/** How many events a replay would send, counted up to `most`. */
export const countReplay = async (tx: Queryable, scope: Scope, range: ReplayRange, most: number): Promise<number> => {
  const values = [scope.accountId, scope.environment, range.types, range.firstId, range.lastId, most];
  return (await tx.query<{ total: number }>(countStatement, values))[0]!.total;
};

/**
 * Schedules events of the range for the endpoint, whether or not they were sent before: up to `most`, oldest first.
 * Returns their number and the last id. A delivery in progress is scheduled too, because its attempt may end with the
 * delivery parked.
 */
export const replayDeliveries = async (
  tx: Queryable,
  scope: Scope,
  range: ReplayRange,
  most: number,
): Promise<{ total: number; lastId: string | null }> => {
  const { endpointId, types, firstId, lastId } = range;
  const values = [scope.accountId, scope.environment, types, firstId, lastId, most, endpointId];
  return (await tx.query<{ total: number; lastId: string | null }>(replayStatement, values))[0]!;
};

const purgeStatement = {
  name: 'delivery-purge',
  text: `delete from deliveries where (account_id, environment, id) in (
      select account_id, environment, id from deliveries
      where status = 'succeeded' and finished_at <= (select clock_timestamp()) - $1 * interval '1 day'
      order by finished_at limit $2 for update skip locked)
    returning 1 as n`,
};
/** Deletes deliveries that succeeded more than `days` ago, with their attempts. Others stay. */
export const purgeDeliveries = async (db: Queryable, days: number, limit: number): Promise<number> =>
  (await db.query(purgeStatement, [days, limit])).length;
