import type { EndpointFailures, EndpointVerdict, HeardAttempts } from '../../core/endpointFailures.ts';
import type { Scope } from '../../core/environment.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import type { Target } from './deliveries.ts';

export type AttemptRecord = Scope & {
  readonly deliveryId: string;
  readonly claim: string;
  readonly atMs: number;
  readonly url: string;
  /** Empty when the event could not be signed, so nothing was sent. The endpoint is not blamed for that. */
  readonly signature: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly response: Buffer;
  readonly status: 'succeeded' | 'scheduled' | 'parked';
  /** Until the next attempt; null when none is scheduled. */
  readonly delayMs: number | null;
  readonly parkedReason: string | null;
  /** The receiver answered 410: the endpoint is disabled, or the payment's callbacks end. */
  readonly gone: boolean;
};

const input = columns<AttemptRecord>(
  {
    account_id: ['text', a => a.accountId],
    environment: ['environment', a => a.environment],
    delivery_id: ['text', a => a.deliveryId],
    claim: ['bigint', a => a.claim],
    at_ms: ['bigint', a => a.atMs],
    url: ['text', a => a.url],
    signature: ['text', a => a.signature],
    status_code: ['smallint', a => a.statusCode],
    error: ['text', a => a.error],
    duration_ms: ['integer', a => a.durationMs],
    response: ['bytea', a => (a.response.length === 0 ? null : a.response)],
    status: ['text', a => a.status],
    delay_ms: ['bigint', a => a.delayMs],
    parked_reason: ['text', a => a.parkedReason],
    gone: ['boolean', a => a.gone || null],
  },
  { hidesLength: true },
);

const attemptColumns = `account_id, environment, delivery_id, claim, at, url, signature, status_code, error, duration_ms, response`;
const attemptOf = (i: string): string =>
  `${i}.account_id, ${i}.environment, ${i}.delivery_id, ${i}.claim, to_timestamp(${i}.at_ms / 1000.0), ${i}.url, ${i}.signature,
        ${i}.status_code, ${i}.error, ${i}.duration_ms, coalesce(${i}.response, '')`;

// While a claim holds, its attempt is not on record yet: recording it ends the claim. So only an attempt that comes
// late can be a duplicate. In both cases the row of the delivery is locked while its attempt is written, so that the
// purge cannot leave an attempt behind.
const recordStatement = {
  name: 'delivery-record',
  text: `with input as materialized (
      select * from ${input.rows('i')}
    ), settled as (
      update deliveries d set attempts = d.attempts + 1, status = i.status,
        failures = case i.status when 'succeeded' then 0 else d.failures + 1 end,
        next_attempt_at = clock_timestamp() + i.delay_ms * interval '1 millisecond', parked_reason = i.parked_reason,
        finished_at = case i.status when 'scheduled' then null else clock_timestamp() end,
        claimed_by = null, claimed_until = null
      from input i
      where d.account_id = i.account_id and d.environment = i.environment and d.id = i.delivery_id
        and d.claim = i.claim and d.claimed_until is not null
      returning i.*, d.endpoint_id, d.event_id
    ), logged as (
      insert into delivery_attempts (${attemptColumns})
      select ${attemptOf('i')} from settled i
    ), late as (
      insert into delivery_attempts (${attemptColumns})
      select ${attemptOf('i')} from input i
        join deliveries d on d.account_id = i.account_id and d.environment = i.environment and d.id = i.delivery_id
      where i.delivery_id not in (select delivery_id from settled) for key share of d
      on conflict do nothing
      returning account_id, environment, delivery_id
    ), counted as (
      update deliveries d set attempts = d.attempts + 1 from late i
      where d.account_id = i.account_id and d.environment = i.environment and d.id = i.delivery_id
    ), stopped as (
      insert into stopped_callbacks (account_id, environment, payment_id)
      select distinct i.account_id, i.environment, e.payment_id
      from settled i join events e
        on e.account_id = i.account_id and e.environment = i.environment and e.id = i.event_id
      where i.gone and i.endpoint_id is null and e.payment_id is not null
      on conflict do nothing
    ), heard as (
      select account_id, environment, endpoint_id, url, bool_or(status = 'succeeded') as succeeded, bool_or(gone) as gone
      from settled where endpoint_id is not null and signature <> '' group by 1, 2, 3, 4
    )
    select w.account_id as "accountId", w.environment, w.id as target, w.url, h.succeeded, coalesce(h.gone, false) as gone,
      case when not h.succeeded then (
        select error from settled where (account_id, environment, endpoint_id, url)
          = (h.account_id, h.environment, h.endpoint_id, h.url) and signature <> '' order by at_ms desc limit 1
      ) end as "lastError",
      w.failing_since::timestamptz(3) as "failingSince", w.failed_at::timestamptz(3) as "failedAt",
      clock_timestamp()::timestamptz(3) as now
    from heard h join webhook_endpoints w
      on w.account_id = h.account_id and w.environment = h.environment and w.id = h.endpoint_id and w.url = h.url
    where w.status = 'enabled' and (h.gone or not h.succeeded or w.failing_since is not null)`,
};
/** An enabled endpoint with an attempt that failed, or that was failing before. */
export type HeardEndpoint = Target & HeardAttempts & EndpointFailures & { readonly url: string; readonly now: Date };

/**
 * Records attempts, each once, whether or not its claim still holds. A late one is only logged and counted, because it
 * may be older than what was done since. Returns the endpoints that may have to change.
 */
export const recordAttempts = (db: Queryable, attempts: readonly AttemptRecord[]): Promise<HeardEndpoint[]> => {
  // A column without any value is sent as null: most attempts succeed and leave several columns empty.
  const values = input.values(attempts).map(column => (column.some(value => value !== null) ? column : null));
  return db.query<Row & HeardEndpoint>(recordStatement, values);
};

// The subselect reads the clock once: a volatile timestamp cannot bound an index scan. Rows are found by their ctid: a join
// planned while the table is new would be a scan, and stay one.
const purgeResponsesStatement = {
  name: 'attempt-purge-responses',
  text: `with purged as (
      update delivery_attempts set response = '' where ctid = any (array(
        select ctid from delivery_attempts
        where length(response) > 0 and at <= (select clock_timestamp()) - $1 * interval '1 day'
        order by at limit $2 for update skip locked))
      returning 1
    )
    select count(*)::int as total from purged`,
};
/** Erases what receivers answered more than `days` ago. The attempts stay, and so does everything that is sent again. */
export const purgeResponses = async (db: Queryable, days: number, limit: number): Promise<number> =>
  (await db.query<{ total: number }>(purgeResponsesStatement, [days, limit]))[0]!.total;

export type JudgedEndpoint = { readonly heard: HeardEndpoint; readonly verdict: EndpointVerdict };

const judged = columns<JudgedEndpoint>({
  account_id: ['text', j => j.heard.accountId],
  environment: ['environment', j => j.heard.environment],
  id: ['text', j => j.heard.target],
  url: ['text', j => j.heard.url],
  failing_before: ['timestamptz', j => j.heard.failingSince],
  failing_since: ['timestamptz', j => j.verdict.failingSince],
  failed_at: ['timestamptz', j => j.verdict.failedAt],
  gone: ['boolean', j => j.heard.gone],
  disabled_reason: ['text', j => j.verdict.disabledReason],
});
// Another process may have written to the endpoint meanwhile. Only a 410 counts nevertheless: everything else will be
// heard again.
const writeFailuresStatement = {
  name: 'endpoint-failures',
  text: `update webhook_endpoints w set failing_since = j.failing_since, failed_at = j.failed_at,
      status = case when j.disabled_reason is null then w.status else 'disabled' end,
      disabled_reason = coalesce(j.disabled_reason, w.disabled_reason)
    from ${judged.rows('j')}
    where w.account_id = j.account_id and w.environment = j.environment and w.id = j.id and w.url = j.url
      and w.status = 'enabled' and (j.gone or w.failing_since::timestamptz(3) is not distinct from j.failing_before)
    returning w.account_id as "accountId", w.environment, w.id as target, j.disabled_reason as reason`,
};
/** Each endpoint at most once per call. Returns those that were disabled. */
export const writeEndpointFailures = async (
  db: Queryable,
  endpoints: readonly JudgedEndpoint[],
): Promise<(Target & { reason: string })[]> => {
  const values = judged.values(endpoints);
  const written = await db.query<Row & Target & { reason: string | null }>(writeFailuresStatement, values);
  return written.flatMap(({ reason, ...target }) => (reason === null ? [] : [{ ...target, reason }]));
};
