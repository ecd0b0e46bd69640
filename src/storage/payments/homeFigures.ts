import type { Scope } from '../../core/environment.ts';
import { firstIdAt } from '../../core/ids.ts';
import type { Queryable, Row } from '../database.ts';
import { hasStray } from './listPayments.ts';

const owned = 'account_id = $1 and environment = $2';
const dayOf = (time: string): string => `(${time} at time zone 'UTC')::date`;

export type DayCount = { readonly day: string; readonly created: number; readonly completed: number };

const conversionStatement = {
  name: 'home-conversion',
  text: `select day::text as day, sum(count) filter (where status = '')::float8 as created,
      coalesce(sum(count) filter (where status = 'completed'), 0)::float8 as completed
    from (
      select day, status, count from payment_totals
        where ${owned} and status in ('', 'completed') and currency = '' and network = '' and exception = '' and day >= $3
      union all
      select ${dayOf('hour')}, s.status, change from payment_deltas d
        cross join lateral (select '' union all select 'completed' where d.status = 'completed') s(status)
        where ${owned} and hour >= $3::date::timestamp at time zone 'UTC'
    ) c group by day`,
};
/** Payments created on each UTC day since this one, and how many of them are completed. */
export const conversionSince = (db: Queryable, scope: Scope, day: string): Promise<DayCount[]> =>
  db.query<Row & DayCount>(conversionStatement, [scope.accountId, scope.environment, day]);

export type DayVolume = {
  readonly day: string;
  readonly currency: string;
  readonly network: string;
  readonly decimals: number;
  readonly count: number;
  readonly amount: bigint;
};

const volumesStatement = {
  name: 'home-volumes',
  text: `select day::text as day, currency, network, decimals, sum(count)::float8 as count, sum(amount)::text as amount
    from (
      select day, currency, network, decimals, count, amount from volume_totals where ${owned} and day >= $3
      union all
      select day, currency, network, decimals, count, amount from volume_deltas where ${owned} and day >= $3
    ) v group by 1, 2, 3, 4 having sum(count) <> 0 or sum(amount) <> 0 order by currency, network, day`,
};
/** Confirmed amounts of payments that were completed on each UTC day since this one, and still are. */
export const volumesSince = async (db: Queryable, scope: Scope, day: string): Promise<DayVolume[]> => {
  const values = [scope.accountId, scope.environment, day];
  const rows = await db.query<Row & Omit<DayVolume, 'amount'> & { amount: string }>(volumesStatement, values);
  return rows.map(row => ({ ...row, amount: BigInt(row.amount) }));
};

export type StateCount = { readonly status: string; readonly exception: string; readonly count: number };

// Without completed payments: they are most of the rows, and none of them needs attention.
const statesStatement = {
  name: 'home-states',
  text: `select status, exception, sum(count)::float8 as count from (
      select status, exception, count from payment_totals
        where ${owned} and status in ('pending', 'confirming', 'expired', 'canceled', 'reversed')
          and currency = '' and network = ''
      union all
      select d.status::text, e.exception, change from payment_deltas d
        cross join lateral (select '' union all select d.exception::text where d.exception is not null) e(exception)
        where ${owned} and d.status <> 'completed'
    ) s group by status, exception having sum(count) > 0 order by status, exception`,
};
/** Counts payments of all time by status and exception. The exception '' counts payments with and without one. */
export const statesNow = (db: Queryable, scope: Scope): Promise<StateCount[]> =>
  db.query<Row & StateCount>(statesStatement, [scope.accountId, scope.environment]);

/** Anybody can send tokens to any address, so the count is bounded. */
const strayedSample = 1_000;

const strayedStatement = {
  name: 'home-strayed',
  text: `select status::text as status, count(*)::float8 as count from (
      select * from payments where ${owned} and strayed order by id desc limit ${strayedSample}
    ) p where status <> 'completed' and ${hasStray} group by status order by status`,
};
/** How many payments that are not completed got money of another token or network, by where they stand. */
export const strayedNow = (db: Queryable, scope: Scope): Promise<Omit<StateCount, 'exception'>[]> =>
  db.query<Row & Omit<StateCount, 'exception'>>(strayedStatement, [scope.accountId, scope.environment]);

/** The newest payments that are timed: each needs lookups of its own, and more would not make the figures better. */
const speedSample = 500;

export type Speed = {
  readonly detectP50: number | null;
  readonly detectP95: number | null;
  readonly completeP50: number | null;
  readonly completeP95: number | null;
  readonly sample: number;
};

const ms = (later: string, earlier: string): string =>
  `greatest(0, extract(epoch from ${later} - ${earlier}) * 1000)::float8`;
const quantile = (share: number, of: string): string => `percentile_disc(${share}) within group (order by ${of})`;

// Both times begin with the same block and are of the same payments, so no share of them completes before it is detected.
const speedStatement = {
  name: 'home-speed',
  text: `with sample as materialized (
      select account_id, environment, id, completed_at from payments
      where ${owned} and status = 'completed' and id >= $3 order by id desc limit ${speedSample}
    ), timed as materialized (
      select ${ms('d.created_at', 'f.timestamp')} as detect,
        ${ms('greatest(s.completed_at, d.created_at)', 'f.timestamp')} as complete
      from sample s
        join lateral (
          select created_at from events e where e.account_id = s.account_id and e.environment = s.environment
            and e.payment_id = s.id and e.type = 'payment.detected' order by sequence limit 1
        ) d on true
        join lateral (
          select min(b.timestamp) as timestamp from (
            select caip2, block_hash from transfers t where t.account_id = s.account_id
              and t.environment = s.environment and t.payment_id = s.id and not t.stray and t.canonical limit 100
          ) t join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
        ) f on f.timestamp is not null
    )
    select ${quantile(0.5, 'detect')} as "detectP50", ${quantile(0.95, 'detect')} as "detectP95",
      ${quantile(0.5, 'complete')} as "completeP50", ${quantile(0.95, 'complete')} as "completeP95",
      count(*)::int as sample
    from timed`,
};
/** How fast the newest payments created since then were detected and completed. */
export const speedSince = async (db: Queryable, scope: Scope, sinceMs: number): Promise<Speed> => {
  const values = [scope.accountId, scope.environment, firstIdAt('payment', sinceMs)];
  return (await db.query<Row & Speed>(speedStatement, values))[0]!;
};
