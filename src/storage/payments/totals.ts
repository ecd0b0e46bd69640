import type { Database } from '../database.ts';

const tryLock = { name: 'totals-lock', text: `select pg_try_advisory_xact_lock(7260114302) as locked` };

/**
 * Each delta counts in the eight combinations of {its value, any} for status, currency and network, and in eight more
 * if it has an exception. A delta that would take a missing row below zero violates the check of the table: such a bug
 * must stop the folding.
 */
const fold = {
  name: 'totals-fold',
  text: `with oldest as (
      select id from payment_deltas order by id limit $1
    ), taken as (
      delete from payment_deltas d using oldest where d.id = oldest.id returning d.*
    ), spread as (
      select account_id, environment, s.status, c.currency, n.network, e.exception, (hour at time zone 'UTC')::date as day,
        extract(hour from hour at time zone 'UTC')::int as hour, sum(change)::int as count
      from taken d
        cross join lateral (values (d.status::text), ('')) s(status)
        cross join lateral (values (d.currency), ('')) c(currency)
        cross join lateral (values (d.network), ('')) n(network)
        cross join lateral (select '' union all select d.exception::text where d.exception is not null) e(exception)
      group by 1, 2, 3, 4, 5, 6, 7, 8
    ), days as (
      select account_id, environment, status, currency, network, exception, day, sum(count) as count,
        array_agg(coalesce(count, 0) order by h.hour) as hours
      from (select distinct account_id, environment, status, currency, network, exception, day from spread) k
        cross join generate_series(0, 23) h(hour)
        left join spread using (account_id, environment, status, currency, network, exception, day, hour)
      group by 1, 2, 3, 4, 5, 6, 7
    ), merged as (
      select d.*, t.day is not null as known,
        case when t.day is null then d.hours
          else (select array_agg(a + b order by i) from unnest(t.hours, d.hours) with ordinality as u(a, b, i)) end as sums
      from days d
        left join payment_totals t using (account_id, environment, status, currency, network, exception, day)
    ), added as (
      insert into payment_totals (account_id, environment, status, currency, network, exception, day, count, hours)
      select account_id, environment, status, currency, network, exception, day, count, sums from merged where not known
    ), updated as (
      update payment_totals t set count = t.count + m.count, hours = m.sums from merged m
      where m.known and t.account_id = m.account_id and t.environment = m.environment and t.status = m.status
        and t.currency = m.currency and t.network = m.network and t.exception = m.exception and t.day = m.day
    )
    select count(*)::int as folded from taken`,
};

/** Adds deltas of sums to their totals. Only one process does so at a time, so a missing row can simply be inserted. */
const foldSums = (table: 'volume' | 'holding' | 'ledger', keys: readonly string[]) => {
  const list = keys.join(', ');
  const isSame = keys.map(key => `t.${key} = s.${key}`).join(' and ');
  return {
    name: `totals-fold-${table}`,
    text: `with taken as (
      delete from ${table}_deltas where id in (select id from ${table}_deltas order by id limit $1) returning *
    ), sums as (
      select ${list}, sum(count) as count, sum(amount) as amount from taken group by ${list}
    ), updated as (
      update ${table}_totals t set count = t.count + s.count, amount = t.amount + s.amount from sums s where ${isSame}
    ), added as (
      insert into ${table}_totals (${list}, count, amount) select ${list}, count, amount from sums s
      where not exists (select from ${table}_totals t where ${isSame})
    )
    select count(*)::int as folded from taken`,
  };
};
const owner = ['account_id', 'environment'] as const;
const foldVolumes = foldSums('volume', [...owner, 'currency', 'network', 'decimals', 'day']);
const foldHoldings = foldSums('holding', [
  ...owner,
  'currency',
  'network',
  'decimals',
  'caip2',
  'contract',
  'treasury',
]);
const foldLedger = foldSums('ledger', [...owner, 'caip2', 'contract', 'source', 'destination']);

/**
 * Folds the oldest deltas of each kind into their totals. One process works at a time; the others return at once. Each
 * kind has its own transaction, so that a fault in one does not stop the others; the first fault is thrown at the end.
 * Returns the most deltas folded of one kind.
 */
export const foldTotals = async (db: Database, limit: number): Promise<number> => {
  const faults: unknown[] = [];
  let most = 0;
  for (const statement of [fold, foldVolumes, foldHoldings, foldLedger]) {
    try {
      const folded = await db.transaction(async tx => {
        const [lock] = await tx.query<{ locked: boolean }>(tryLock);
        return lock!.locked ? (await tx.query<{ folded: number }>(statement, [limit]))[0]!.folded : 0;
      });
      most = Math.max(most, folded);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return most;
};
