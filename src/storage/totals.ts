import type { Database } from './database.ts';

const tryLock = { name: 'totals-lock', text: `select pg_try_advisory_xact_lock(7260114302) as locked` };

/**
 * Each delta counts in the eight combinations of {its value, any} for status, currency and network. A delta that would
 * take a row that does not exist below zero violates the table's own check: that is a bug worth stopping for.
 */
const fold = {
  name: 'totals-fold',
  text: `with oldest as (
      select id from payment_deltas order by id limit $1
    ), taken as (
      delete from payment_deltas d using oldest where d.id = oldest.id returning d.*
    ), spread as (
      select account_id, environment, s.status, c.currency, n.network, (hour at time zone 'UTC')::date as day,
        extract(hour from hour at time zone 'UTC')::int as hour, sum(count)::int as count
      from taken d
        cross join lateral (values (d.status::text), ('')) s(status)
        cross join lateral (values (d.currency), ('')) c(currency)
        cross join lateral (values (d.network), ('')) n(network)
      group by 1, 2, 3, 4, 5, 6, 7
    ), days as (
      select account_id, environment, status, currency, network, day, sum(count) as count,
        array_agg(coalesce(count, 0) order by h.hour) as hours
      from (select distinct account_id, environment, status, currency, network, day from spread) k
        cross join generate_series(0, 23) h(hour)
        left join spread using (account_id, environment, status, currency, network, day, hour)
      group by 1, 2, 3, 4, 5, 6
    ), merged as (
      select d.*, t.day is not null as known,
        case when t.day is null then d.hours
          else (select array_agg(a + b order by i) from unnest(t.hours, d.hours) with ordinality as u(a, b, i)) end as sums
      from days d left join payment_totals t using (account_id, environment, status, currency, network, day)
    ), added as (
      insert into payment_totals (account_id, environment, status, currency, network, day, count, hours)
      select account_id, environment, status, currency, network, day, count, sums from merged where not known
    ), updated as (
      update payment_totals t set count = t.count + m.count, hours = m.sums from merged m
      where m.known and t.account_id = m.account_id and t.environment = m.environment and t.status = m.status
        and t.currency = m.currency and t.network = m.network and t.day = m.day
    )
    select count(*)::int as folded from taken`,
};

/** Folds the oldest deltas into the daily totals. One folder works at a time; the others return at once. */
export const foldTotals = (db: Database, limit: number): Promise<number> =>
  db.transaction(async tx => {
    const [lock] = await tx.query<{ locked: boolean }>(tryLock);
    if (!lock!.locked) return 0;
    return (await tx.query<{ folded: number }>(fold, [limit]))[0]!.folded;
  });
