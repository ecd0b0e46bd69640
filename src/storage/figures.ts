import type { Environment } from '../core/environment.ts';
import type { PaymentStatus } from '../core/payment/states.ts';
import type { NetworkHealth } from './chain/networkStatus.ts';
import type { Queryable, Row } from './database.ts';
import { gateName } from './deployment.ts';
import { targetOfRow } from './webhooks/deliveries.ts';

/** No figure is counted further: whoever reads it needs to know that there are many. */
const mostCounted = 10_000;
const counted = (rows: string): string => `(select count(*)::int from (${rows} limit ${mostCounted}) as counted)`;

/** A measurement that is older is void: nothing polls the network. */
const staleAfter = `interval '15 seconds'`;

export type ChainFigures = {
  readonly caip2: string;
  readonly halted: boolean;
  /** Null if the chain was never read to its end. */
  readonly lagSeconds: number | null;
  readonly status: NetworkHealth;
  /** Since a process measured it last. */
  readonly ageSeconds: number;
};
export type Figures = {
  readonly chains: readonly ChainFigures[];
  readonly differences: number;
  readonly unclaimed: number;
  /** When the newest of these arrived, in seconds since 1970; null without any. */
  readonly unclaimedAt: number | null;
  /** By kind: how many, and when the newest was given up. */
  readonly parkedMessages: Readonly<Record<string, { readonly total: number; readonly at: number }>>;
  readonly reviews: number;
  readonly isGateClosed: boolean;
};

const figuresStatement = {
  name: 'figures-read',
  // Only shown to the operator, so nothing here is held against its seal.
  text: `select
      (select coalesce(json_agg(json_build_object('caip2', n.caip2, 'halted', c.halted_at is not null,
          'lagSeconds', greatest(0, extract(epoch from clock_timestamp() - c.caught_up_at))::float8,
          'ageSeconds', extract(epoch from clock_timestamp() - n.checked_at)::float8,
          'status', case when n.checked_at > clock_timestamp() - ${staleAfter} then n.status else 'down' end)), '[]')
        from (select distinct on (caip2) * from network_status order by caip2, checked_at desc) n
          left join chains c on c.caip2 = n.caip2) as chains,
      ${counted('select from differences where resolved_at is null')} as differences,
      ${counted('select from unclaimed_funds where canonical')} as unclaimed,
      (select extract(epoch from max(first_seen_at))::float8 from unclaimed_funds where canonical) as "unclaimedAt",
      (select coalesce(json_object_agg(kind, json_build_object('total', total, 'at', at)), '{}') from (
        select kind, count(*)::int as total, extract(epoch from max(parked_at))::float8 as at from (
          select kind, parked_at from outbox where parked_at is not null order by parked_at desc limit ${mostCounted}
        ) as parked group by 1) as kinds)
        as "parkedMessages",
      (select count(distinct account_id)::int from restore_reviews where reviewed_at is null) as reviews,
      not exists (select from deployment where name = '${gateName}' and value like 'open %') as "isGateClosed"`,
};
export const readFigures = async (db: Queryable): Promise<Figures> =>
  (await db.query<Row & Figures>(figuresStatement))[0]!;

export type PaymentCount = Row & { environment: Environment; status: PaymentStatus; count: number };
const paymentsStatement = {
  name: 'figures-payments',
  // By account, so that each is a range of the primary key: a scan would read the rows of every network and token.
  text: `select environment, status, sum(count)::float8 as count from (
      select t.environment, t.status, t.count from accounts a cross join unnest(enum_range(null::environment)) as e(environment)
        cross join unnest(enum_range(null::payment_status)) as s(status)
        join payment_totals t on t.account_id = a.id and t.environment = e.environment and t.status = s.status::text
          and t.currency = '' and t.network = '' and t.exception = ''
      union all
      select environment, status::text, change from payment_deltas
    ) as counts group by 1, 2`,
};
/** Payments of all accounts by status. The cost grows with accounts and days, not with payments. */
export const countPayments = (db: Queryable): Promise<PaymentCount[]> => db.query<PaymentCount>(paymentsStatement);

/** Due deliveries: those that were never tried, and those that failed before. */
export type DueDeliveries = Row & { kind: 'first' | 'retry'; due: number; oldestSeconds: number };
const dueOfKind = `d.account_id = t.account_id and d.environment = t.environment and ${targetOfRow} = t.target
            and d.status = 'scheduled' and least(d.failures, 1) = k.kind
            and d.next_attempt_at <= (select clock_timestamp())`;
const dueStatement = {
  name: 'figures-due',
  // From target to target in the index, as the poll of the deliverer does: what is scheduled for later is not read.
  text: `with recursive targets as (
      (select d.account_id, d.environment, ${targetOfRow} as target, 1 as place from deliveries d
        where d.status = 'scheduled' order by d.account_id, d.environment, ${targetOfRow} limit 1)
      union all
      select next.*, t.place + 1 from targets t cross join lateral (
        select d.account_id, d.environment, ${targetOfRow} as target from deliveries d
        where d.status = 'scheduled'
          and (d.account_id, d.environment, ${targetOfRow}) > (t.account_id, t.environment, t.target)
        order by d.account_id, d.environment, ${targetOfRow} limit 1) next
      where t.place < ${mostCounted}
    )
    select case k.kind when 0 then 'first' else 'retry' end as kind, ${counted(`select from targets t cross join lateral (
          select from deliveries d where ${dueOfKind} limit ${mostCounted}) d`)} as due,
      greatest(0, coalesce(extract(epoch from clock_timestamp() - (
        select min(d.next_attempt_at) from targets t cross join lateral (
          select d.next_attempt_at from deliveries d where ${dueOfKind} order by d.next_attempt_at limit 1) d
      )), 0))::float8 as "oldestSeconds"
    from (values (0), (1)) as k(kind)`,
};
export const readDueDeliveries = (db: Queryable): Promise<DueDeliveries[]> => db.query<DueDeliveries>(dueStatement);
