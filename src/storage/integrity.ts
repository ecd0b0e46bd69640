import type { Queryable, Row } from './database.ts';

/** The owner of the tables can turn foreign keys off, so they are looked at from outside. */
type ForeignKey = Row & {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly parent: string;
  readonly parentColumns: readonly string[];
};

const namesOf = (relation: string, keys: string): string =>
  `(select json_agg(quote_ident(a.attname) order by k.at) from unnest(c.${keys}) with ordinality k(number, at)
    join pg_attribute a on a.attrelid = c.${relation} and a.attnum = k.number)`;

const foreignKeysStatement = {
  name: 'foreign-keys',
  text: `select c.conname::text as name, c.conrelid::regclass::text as table, c.confrelid::regclass::text as parent,
      ${namesOf('conrelid', 'conkey')} as columns, ${namesOf('confrelid', 'confkey')} as "parentColumns"
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.conparentid = 0
    order by 2, 1`,
};

const orphans = ({ table, columns, parent, parentColumns }: ForeignKey): string =>
  `select count(*)::float8 as count from ${table} c
    where ${columns.map(name => `c.${name} is not null`).join(' and ')} and not exists (
      select from ${parent} p where ${columns.map((name, at) => `p.${parentColumns[at]} = c.${name}`).join(' and ')})`;

/** Rows whose other row is missing, by foreign key. Reads every table. */
export const orphanFaults = async (db: Queryable): Promise<string[]> => {
  const faults: string[] = [];
  for (const key of await db.query<ForeignKey>(foreignKeysStatement)) {
    const [row] = await db.query<Row & { count: number }>({ name: '', text: orphans(key) });
    if (row!.count > 0) faults.push(`${row!.count} of ${key.table} have no row in ${key.parent}`);
  }
  return faults;
};

/** A count of one kind of payments in one hour is in the rows of all filters that it belongs to; '' stands for any. */
const filters = `cross join lateral (values (g.status), ('')) s(status)
      cross join lateral (values (g.currency), ('')) c(currency)
      cross join lateral (values (g.network), ('')) n(network)
      cross join lateral (select '' union all select g.exception where g.exception is not null) e(exception)`;

const countsStatement = {
  name: 'payment-count-faults',
  text: `with grouped as (
      select account_id, environment, status::text as status, currency, network, exception::text as exception,
        date_trunc('hour', created_at, 'UTC') as hour, count(*) as found, 0::bigint as told
      from payments group by 1, 2, 3, 4, 5, 6, 7
      union all
      select account_id, environment, status::text, currency, network, exception::text, hour, 0, sum(change)
      from payment_deltas group by 1, 2, 3, 4, 5, 6, 7
    ), counted as (
      select g.account_id, g.environment, s.status, c.currency, n.network, e.exception, g.hour, g.found, g.told
      from grouped g ${filters}
      union all
      select account_id, environment, status, currency, network, exception,
        (day + (u.at - 1) * interval '1 hour') at time zone 'UTC', 0, u.counted
      from payment_totals, unnest(hours) with ordinality as u(counted, at)
      union all
      -- The sum of a day is a column of its own.
      select account_id, environment, status, currency, network, exception, null, count, (select sum(h) from unnest(hours) h)
      from payment_totals
    )
    select account_id as "accountId", environment, hour, sum(found)::text as found, sum(told)::text as told from counted
    group by account_id, environment, status, currency, network, exception, hour having sum(found) <> sum(told)
    order by 1, 2, 3 limit 100`,
};
/** Where there are more or fewer payments than were counted as they were written. Reads every payment. */
export const countFaults = async (db: Queryable): Promise<string[]> => {
  type Fault = Row & { accountId: string; environment: string; hour: Date | null; found: string; told: string };
  const rows = await db.query<Fault>(countsStatement);
  const hourOf = (hour: Date | null): string => (hour === null ? 'a day' : `the hour of ${hour.toISOString()}`);
  return [
    ...new Set(
      rows.map(
        ({ accountId, environment, hour, found, told }) =>
          `${accountId} ${environment}: ${told} payments of ${hourOf(hour)} were counted, and there are ${found}`,
      ),
    ),
  ];
};

const historyStatement = {
  name: 'payment-history-faults',
  text: `select p.id, p.sequence, count(e.id)::int as events from payments p
      left join events e on e.account_id = p.account_id and e.environment = p.environment and e.payment_id = p.id
        and e.sequence >= 1
    group by p.account_id, p.environment, p.id, p.sequence having count(e.id) <> p.sequence order by p.id limit 100`,
};
/** Payments whose history has gaps, or goes on after the state that they are in. Reads every event. */
export const historyFaults = async (db: Queryable): Promise<string[]> => {
  const rows = await db.query<Row & { id: string; sequence: number; events: number }>(historyStatement);
  return rows.map(({ id, sequence, events }) => `${id} has ${events} of its ${sequence} events`);
};

const deliveriesStatement = {
  name: 'delivery-faults',
  text: `select count(*)::float8 as count from deliveries d
    where d.id <> delivery_id(d.event_id, coalesce(d.endpoint_id, 'callback'))`,
};
/** Deliveries that are not those of their events and targets. Reads every delivery. */
export const deliveryFaults = async (db: Queryable): Promise<string[]> => {
  const { count } = (await db.query<Row & { count: number }>(deliveriesStatement))[0]!;
  return count === 0 ? [] : [`${count} deliveries have another id than their event and target give them`];
};

const transfersStatement = {
  name: 'transfer-faults',
  text: `select t.payment_id as id, count(*)::int as count from transfers t
      join payments p on p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id
    where t.stray <> (t.caip2 <> p.caip2 or t.contract is distinct from p.contract)
    group by t.payment_id order by 1 limit 100`,
};
/** Payments with transfers that are marked as strays although they are in their token, or the other way round. Reads every transfer. */
export const transferFaults = async (db: Queryable): Promise<string[]> => {
  const rows = await db.query<Row & { id: string; count: number }>(transfersStatement);
  return rows.map(({ id, count }) => `${count} transfers of ${id} are wrongly marked as strays, or wrongly not`);
};

const passkeysStatement = {
  name: 'passkey-faults',
  text: `select p.id, count(*)::int as missing from people p cross join unnest(p.passkey_ids) as named(id)
    where not exists (select from passkeys k where k.person_id = p.id and k.id = named.id)
    group by p.id order by p.id limit 100`,
};
/** People who lack passkeys that they have. */
export const passkeyFaults = async (db: Queryable): Promise<string[]> => {
  const rows = await db.query<Row & { id: string; missing: number }>(passkeysStatement);
  return rows.map(({ id, missing }) => `${missing} passkeys of ${id} were removed from the database`);
};

const usedIndexesStatement = {
  name: 'used-indexes',
  text: `select treasury as xpub, max(derivation_index)::text as last from (
      select treasury, derivation_index from payments where wallet_kind = 'xpub'
      union all select treasury, derivation_index from lost_addresses where wallet_kind = 'xpub'
    ) used group by 1`,
};
/** The last index of each extended public key that was given out. */
export const lastIndexes = (db: Queryable): Promise<{ xpub: string; last: string }[]> =>
  db.query<Row & { xpub: string; last: string }>(usedIndexesStatement);
