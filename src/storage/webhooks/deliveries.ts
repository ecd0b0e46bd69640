import type { Scope } from '../../core/environment.ts';
import { isListed, keptRegisterState } from '../audit/register.ts';
import { columns, type Fields } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedText, type Vouched } from '../seals.ts';

/** Deliveries that are slow or fail together: those of an endpoint, or an account's callbacks to one server. */
export type Target = Scope & { readonly target: string };

/** The target of a row `d` of deliveries, spelled as in the index. */
export const targetOfRow = 'delivery_target(d.endpoint_id, d.callback_url)';

const scheduledOf = (t: string): string =>
  `d.account_id = ${t}.account_id and d.environment = ${t}.environment and ${targetOfRow} = ${t}.target
    and d.status = 'scheduled'`;

/** Why a delivery is parked without being sent. */
const refusals = {
  deleted: 'the endpoint was deleted',
  disabled: 'the endpoint is disabled',
  stopped: 'the receiver wants no more callbacks of this payment',
} as const;

const parkedFor = (reason: string): string =>
  `status = 'parked', parked_reason = ${reason}, next_attempt_at = null, finished_at = clock_timestamp(),
    claimed_by = null, claimed_until = null`;

const isFree = 'd.claimed_until is null or d.claimed_until <= (select clock_timestamp())';

const lookStatement = {
  name: 'delivery-look',
  text: `with recursive targets as (
      (select d.account_id, d.environment, ${targetOfRow} as target, 1 as place from deliveries d
        where d.status = 'scheduled' and (d.account_id, d.environment, ${targetOfRow}) > ($1, $2::environment, $3)
        order by d.account_id, d.environment, ${targetOfRow} limit 1)
      union all
      select next.*, t.place + 1 from targets t cross join lateral (
        select d.account_id, d.environment, ${targetOfRow} as target from deliveries d
        where d.status = 'scheduled'
          and (d.account_id, d.environment, ${targetOfRow}) > (t.account_id, t.environment, t.target)
        order by d.account_id, d.environment, ${targetOfRow} limit 1) next
      where t.place < $4
    ), seen as (
      select t.*, e.closed, e.failing, not e.closed and exists (
        select from (values (0), (1)) as k(kind) cross join lateral (
          select from deliveries d where ${scheduledOf('t')} and least(d.failures, 1) = k.kind
            and d.next_attempt_at <= (select clock_timestamp()) limit 1) due) as due
      from targets t left join lateral (select * from webhook_endpoints w where w.account_id = t.account_id
          and w.environment = t.environment and w.id = t.target limit 1) w on true
        cross join lateral (select coalesce(w.status = 'disabled' or w.deleted_at is not null, false) as closed,
          coalesce(w.failing_since <= (select clock_timestamp()) - interval '1 hour', false) as failing) e
    )
    select account_id as "accountId", environment, target, closed, failing, due, place = $4 as last from seen
    where due or closed or place = $4 order by place`,
};
export type Seen = {
  /** Targets with a due delivery. `failing` means that every attempt of the last hour or longer failed. */
  readonly due: (Target & { readonly failing: boolean })[];
  /** Disabled or deleted endpoints that still have scheduled deliveries. */
  readonly closed: Target[];
  /** Where the next look continues; null at the end. */
  readonly upTo: Target | null;
};
/**
 * Looks at the next `limit` targets with scheduled deliveries. It skips from target to target in the index, so the cost
 * grows with the number of targets, not of deliveries.
 */
export const lookAtTargets = async (db: Queryable, after: Target | null, limit: number): Promise<Seen> => {
  type Found = Row & Target & { closed: boolean; failing: boolean; due: boolean; last: boolean };
  const { accountId, environment, target } = after ?? { accountId: '', environment: 'production', target: '' };
  const rows = await db.query<Found>(lookStatement, [accountId, environment, target, limit]);
  const last = rows.at(-1);
  return {
    due: rows.filter(({ due }) => due),
    closed: rows.filter(({ closed }) => closed),
    upTo: last?.last ? last : null,
  };
};

/** The event and the target of a delivery, to be held against their seals. */
export type EventOfDelivery = Scope & {
  readonly id: string;
  readonly eventId: string;
  readonly paymentId: string | null;
  readonly eventSequence: number | null;
  readonly type: string;
  readonly eventStatus: string | null;
  readonly eventException: string | null;
  readonly previousStatus: string | null;
  readonly previousException: string | null;
  readonly body: string;
  readonly eventCreatedAt: Date;
  readonly eventSeal: Buffer | null;
  readonly endpointId: string | null;
  readonly url: string;
  readonly callbackSeal: Buffer | null;
};

/** For the aliases e and d, without the id of the delivery and its url. */
export const eventOfDelivery = (
  d: string,
): string => `${d}.account_id as "accountId", ${d}.environment, ${d}.event_id as "eventId",
      e.payment_id as "paymentId", e.sequence as "eventSequence", e.type, e.status as "eventStatus", e.exception as "eventException",
      e.previous_status as "previousStatus", e.previous_exception as "previousException", e.body,
      e.created_at as "eventCreatedAt", e.row_seal as "eventSeal", ${d}.endpoint_id as "endpointId",
      ${d}.row_seal as "callbackSeal"`;

export type ClaimedDelivery = Row &
  Target &
  EventOfDelivery & {
    claim: string;
    failures: number;
    /** Of the request that caused the event, as it is kept. */
    trace: string | null;
    /**
     * The endpoint's secrets, newest first, or the account's callback secret: encrypted, in base64, separated by
     * spaces.
     */
    secrets: string;
    /** What the endpoint's seal covers, and the seal; null for a callback. */
    endpointText: string | null;
    endpointSeal: Buffer | null;
    /** The end of the account's audit log, and whether its register lists the endpoint; null for a callback. */
    vouched: Vouched | null;
    isRegistered: boolean | null;
    /** Why it must not be sent; null if it may. */
    refusal: string | null;
  };

/** `first` and `retries` are the most first attempts and retries to claim. */
export type Wanted = Target & { readonly first: number; readonly retries: number };

const targetFields: Fields<Target> = {
  account_id: ['text', t => t.accountId],
  environment: ['environment', t => t.environment],
  target: ['text', t => t.target],
};
const wantedTargets = columns<Wanted>(
  { ...targetFields, first: ['integer', w => w.first], retries: ['integer', w => w.retries] },
  { hidesLength: true },
);

// If a server crash loses a claim, the delivery is merely free again, so the commit does not wait for the disk. Rows are
// found by their ctid, and their relations one by one: joins planned while the tables are new would be scans, and stay scans
// as the tables grow.
const claimStatement = {
  name: 'delivery-claim',
  text: `with asked as materialized (
      select i.*, w.url, ${sealedText('webhook_endpoints', 'w')} as endpoint_text, w.row_seal as endpoint_seal,
        concat_ws(' ', encode(w.secret, 'base64'), (
          select string_agg(encode(old.secret, 'base64'), ' ' order by old.until desc) from
          unnest(w.previous_secrets, w.previous_secrets_until) as old(secret, until) where old.until > clock_timestamp()
        )) as secrets,
        case when w.deleted_at is not null then '${refusals.deleted}'
          when w.status = 'disabled' then '${refusals.disabled}' end as refusal
      from ${wantedTargets.rows('i')}
        cross join (select set_config('synchronous_commit', 'off', true)) as unwaited
        left join webhook_endpoints w on w.account_id = i.account_id and w.environment = i.environment and w.id = i.target
    ), heads as materialized (
      select h.account_id, h.register, ${keptRegisterState} as state
      from (select distinct account_id from asked where endpoint_text is not null) a cross join lateral (
        select * from audit_heads where account_id = a.account_id limit 1) h
    ), wanted as materialized (
      select a.*, h.state as head, ${isListed('h.register', 'webhook_endpoints', 'a.endpoint_text')} as is_registered
      from asked a left join heads h on h.account_id = a.account_id and a.endpoint_text is not null
    ), picked as materialized (
      select due.place from wanted w cross join (values (0), (1)) as k(kind) cross join lateral (
        select d.ctid as place from deliveries d
        where ${scheduledOf('w')} and least(d.failures, 1) = k.kind
          and d.next_attempt_at <= (select clock_timestamp())
          and (${isFree} or (d.claimed_by = $6 and d.claimed_until < $8::timestamptz + $7 * interval '1 second'))
        order by d.next_attempt_at limit case k.kind when 0 then w.first else w.retries end
        for update skip locked) due
    ), claimed as (
      update deliveries d set claim = d.claim + 1, claimed_by = $6,
        claimed_until = clock_timestamp() + $7 * interval '1 second'
      where d.ctid = any (array(select place from picked))
      returning d.account_id, d.environment, d.id, d.claim, d.failures, d.event_id, d.endpoint_id,
        d.callback_url, d.row_seal, ${targetOfRow} as target
    )
    select w.target, c.id, c.claim, c.failures, coalesce(w.url, c.callback_url) as url, ${eventOfDelivery('c')}, e.trace,
      w.endpoint_text as "endpointText", w.endpoint_seal as "endpointSeal",
      w.head as vouched, w.is_registered as "isRegistered",
      case when c.endpoint_id is not null then w.secrets else (
        select encode(s.callback_secret, 'base64') from account_settings s
        where s.account_id = c.account_id and s.environment = c.environment) end as secrets,
      case when c.endpoint_id is not null then w.refusal else (
        select '${refusals.stopped}' from stopped_callbacks x where x.account_id = c.account_id
          and x.environment = c.environment and x.payment_id = e.payment_id limit 1) end as refusal
    from claimed c join wanted w using (account_id, environment, target) cross join lateral (
      select * from events where account_id = c.account_id and environment = c.environment
        and id = c.event_id limit 1) e`,
};
/**
 * Claims due deliveries of these targets. Those that others hold are skipped. Claims that this holder made before
 * `since`, in a run that was killed, are taken again.
 */
export const claimDeliveries = (
  db: Queryable,
  wanted: readonly Wanted[],
  claim: { readonly holder: string; readonly seconds: number; readonly since: Date },
): Promise<ClaimedDelivery[]> =>
  db.query<ClaimedDelivery>(claimStatement, [
    ...wantedTargets.values(wanted),
    claim.holder,
    claim.seconds,
    claim.since,
  ]);

type Claim = Scope & { readonly id: string; readonly claim: string };
const claimFields: Fields<Claim> = {
  account_id: ['text', c => c.accountId],
  environment: ['environment', c => c.environment],
  id: ['text', c => c.id],
  claim: ['bigint', c => c.claim],
};
const claims = columns<Claim>(claimFields);
const parked = columns<Claim & { readonly reason: string }>({ ...claimFields, reason: ['text', p => p.reason] });
const isClaimed = `d.account_id = i.account_id and d.environment = i.environment and d.id = i.id
      and d.claim = i.claim and d.claimed_until is not null`;

const parkStatement = {
  name: 'delivery-park',
  text: `update deliveries d set ${parkedFor('i.reason')}
    from ${parked.rows('i')} where ${isClaimed}`,
};
/** Claimed deliveries that must not be sent are parked: they stay visible and are not tried again. */
export const parkDeliveries = async (
  db: Queryable,
  refused: readonly (Claim & { readonly reason: string })[],
): Promise<void> => {
  await db.query(parkStatement, parked.values(refused));
};

const postponeStatement = {
  name: 'delivery-postpone',
  text: `update deliveries d set claimed_by = null, claimed_until = null,
      next_attempt_at = clock_timestamp() + $5 * interval '1 second'
    from ${claims.rows('i')} where ${isClaimed}`,
};
/** Gives claims back: what was not sent is tried later, and no attempt has failed. */
export const postponeDeliveries = async (db: Queryable, held: readonly Claim[], seconds: number): Promise<void> => {
  await db.query(postponeStatement, [...claims.values(held), seconds]);
};

const closedTargets = columns<Target>(targetFields);
const parkClosedStatement = {
  name: 'delivery-park-closed',
  text: `with picked as materialized (
      select due.*, case when w.deleted_at is not null then '${refusals.deleted}' else '${refusals.disabled}' end as reason
      from ${closedTargets.rows('t')}
        join webhook_endpoints w on w.account_id = t.account_id and w.environment = t.environment and w.id = t.target
          and (w.status = 'disabled' or w.deleted_at is not null)
        cross join lateral (
          select d.account_id, d.environment, d.id from deliveries d where ${scheduledOf('t')} and (${isFree})
          limit $4 for update skip locked) due
      limit $4
    )
    update deliveries d set ${parkedFor('p.reason')} from picked p
    where d.account_id = p.account_id and d.environment = p.environment and d.id = p.id
    returning 1 as n`,
};
/** Parks scheduled deliveries of those endpoints that are disabled or deleted, at most `limit`. Returns how many. */
export const parkClosed = async (db: Queryable, targets: readonly Target[], limit: number): Promise<number> => {
  return (await db.query(parkClosedStatement, [...closedTargets.values(targets), limit])).length;
};

const releaseStatement = {
  name: 'delivery-release',
  text: `update deliveries d set claimed_by = null, claimed_until = null
    from ${claims.rows('i')} where ${isClaimed}`,
};
/** Gives claims back. A delivery that was being sent is sent again. */
export const releaseDeliveries = async (db: Queryable, held: readonly Claim[]): Promise<void> => {
  await db.query(releaseStatement, claims.values(held));
};
