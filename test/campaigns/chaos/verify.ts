import pg from 'pg';
import { isLegalEdge, type PaymentStatus } from '../../../src/core/payment/states.ts';
import type { Ledger } from './ledger.ts';

export type Check = { readonly what: string; readonly problems: readonly string[] };

type Row = Record<string, unknown>;
type Ask = (sql: string, values?: unknown[]) => Promise<Row[]>;

/** Clocks of client and database are the same machine's, but not read at the same moment. */
const clockSlackMs = 2_000;

/** Runs over the tables themselves and not over their indexes, which could be what is broken. */
const withTables = async <T>(connection: pg.ClientConfig, work: (ask: Ask) => Promise<T>): Promise<T> => {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read, read only');
    await client.query(
      'set local enable_indexscan = off; set local enable_indexonlyscan = off; set local enable_bitmapscan = off',
    );
    return await work(async (sql, values = []) => (await client.query(sql, values)).rows);
  } finally {
    await client.end();
  }
};

const none = async (ask: Ask, what: string, sql: string, values: unknown[] = []): Promise<Check> => ({
  what,
  problems: (await ask(sql, values)).slice(0, 5).map(row => JSON.stringify(row)),
});

const acknowledged = async (ask: Ask, ledger: Ledger): Promise<Check[]> => {
  const rows = await ask('select id, address, external_id, status, metadata, amount::text, decimals from payments');
  const byId = new Map(rows.map(row => [row.id as string, row]));
  const missing: string[] = [];
  const changed: string[] = [];
  const uncanceled: string[] = [];
  for (const payment of ledger.payments.values()) {
    const row = byId.get(payment.id);
    if (!row) missing.push(payment.id);
    else {
      const units = BigInt(payment.amount.replace('.', '')) * 10n ** BigInt((row.decimals as number) - 2);
      const same =
        row.address === payment.address && row.external_id === payment.externalId && row.amount === String(units);
      if (!same) changed.push(payment.id);
      if (payment.canceled && row.status !== 'canceled') uncanceled.push(`${payment.id} is ${row.status}`);
    }
  }
  return [
    { what: `all ${ledger.payments.size} acknowledged payments exist (of ${rows.length} in all)`, problems: missing },
    { what: 'with the address, amount and externalId they were acknowledged with', problems: changed },
    { what: 'acknowledged cancels are canceled', problems: uncanceled },
    { what: 'no order is left without an answer', problems: ledger.unsettled.map(order => order.externalId) },
  ];
};

const uniqueness = async (ask: Ask): Promise<Check[]> => [
  await none(
    ask,
    'no externalId has two payments',
    'select external_id, count(*) from payments group by 1 having count(*) > 1',
  ),
  await none(
    ask,
    'no idempotency key has two payments',
    `select metadata::json->>'key' as key, count(*) from payments where metadata::json->>'key' is not null group by 1 having count(*) > 1`,
  ),
  await none(
    ask,
    'every kept key names a payment that exists',
    `select key, resource_id from idempotency_keys k where status = 200 and not exists (select from payments p where p.id = k.resource_id)`,
  ),
  await none(ask, 'no address is used twice', 'select address, count(*) from payments group by 1 having count(*) > 1'),
  await none(
    ask,
    'no derivation index is used twice, nor one past its counter',
    `select account_id, derivation_index, count(*) from payments p group by account_id, environment, derivation_index
     having count(*) > 1 or derivation_index >= (select next from derivation_counters where series = account_id || '/' || environment)`,
  ),
  await none(
    ask,
    'no key is doubled',
    'select name, count(*) from api_keys where revoked_at is null group by account_id, name having count(*) > 1',
  ),
  await none(
    ask,
    'there is one first account',
    `select count(*) from accounts where name = 'Default' having count(*) <> 1`,
  ),
];

const histories = async (ask: Ask): Promise<Check[]> => {
  const rows = await ask(
    `select p.id, p.status, p.sequence, array_agg(e.sequence order by e.sequence) as sequences, array_agg(e.type order by e.sequence) as types,
       array_agg(e.status::text order by e.sequence) as statuses, array_agg(e.previous_status::text order by e.sequence) as previous
     from payments p left join events e on e.payment_id = p.id group by p.id, p.status, p.sequence`,
  );
  const problems: string[] = [];
  for (const row of rows) {
    const { sequences, types, statuses, previous } = row as { [name: string]: string[] };
    const isPath = statuses!.every((status, at) => {
      if (at === 0) return status === 'pending' && types![0] === 'payment.created';
      const before = statuses![at - 1]!;
      return (
        previous![at] === before && (before === status || isLegalEdge(before as PaymentStatus, status as PaymentStatus))
      );
    });
    const isWhole =
      sequences!.every((sequence, at) => Number(sequence) === at + 1) && sequences!.length === row.sequence;
    const isOnce = types!.filter(type => type === 'payment.created').length === 1;
    if (!isPath || !isWhole || !isOnce || statuses!.at(-1) !== row.status) problems.push(JSON.stringify(row));
  }
  return [{ what: 'each history is one path of legal edges, with one payment.created and no gap', problems }];
};

const deliveries = async (ask: Ask, ledger: Ledger): Promise<Check[]> => {
  const checks: Check[] = [
    await none(
      ask,
      'each event of a payment with a callback has one callback delivery',
      `select e.id, count(d.id) from events e join payments p on p.id = e.payment_id
       left join deliveries d on d.event_id = e.id and d.endpoint_id is null
       group by e.id, p.callback_url having count(d.id) <> (p.callback_url is not null)::int`,
    ),
    await none(
      ask,
      'no event has two deliveries to one endpoint',
      'select event_id, endpoint_id from deliveries group by 1, 2 having count(*) > 1',
    ),
  ];
  const problems: string[] = [];
  for (const { id, events, sentMs, ackedMs } of ledger.endpoints) {
    const rows = await ask(
      `select e.id, e.type, d.id as delivery from events e left join deliveries d on d.event_id = e.id and d.endpoint_id = $1
       where e.payment_id is not null and ((e.created_at > $2 and ($4 or e.type = any($5)) and d.id is null)
         or (e.created_at < $3 and d.id is not null) or (not ($4 or e.type = any($5)) and d.id is not null)) limit 5`,
      [id, new Date(ackedMs + clockSlackMs), new Date(sentMs - clockSlackMs), events.includes('*'), events],
    );
    problems.push(...rows.map(row => `${id}: ${JSON.stringify(row)}`));
  }
  checks.push({
    what: `each of ${ledger.endpoints.length} endpoints has one delivery of each event it subscribed to`,
    problems,
  });
  return checks;
};

const totals = async (ask: Ask): Promise<Check> =>
  none(
    ask,
    'rolled-up totals and deltas together equal a count, for every status and network',
    `with counted as (select account_id, environment, status::text, network, count(*) as n from payments group by 1, 2, 3, 4),
     told as (select account_id, environment, status, network, sum(n) as n from (
       select account_id, environment, status, network, count as n from payment_totals where status <> '' and currency = '' and network <> '' and exception = ''
       union all select account_id, environment, status::text, network, change from payment_deltas) t group by 1, 2, 3, 4)
     select * from counted full join told using (account_id, environment, status, network)
     where coalesce(counted.n, 0) <> coalesce(told.n, 0)`,
  );

/** Everything that must hold however often it was killed. */
export const verifyTables = (connection: pg.ClientConfig, ledger: Ledger): Promise<Check[]> =>
  withTables(connection, async ask => [
    ...(await acknowledged(ask, ledger)),
    ...(await uniqueness(ask)),
    ...(await histories(ask)),
    ...(await deliveries(ask, ledger)),
    await totals(ask),
  ]);

/** Payments of the account by status, counted one by one. */
export const countByStatus = (connection: pg.ClientConfig, accountId: string): Promise<Map<string, number>> =>
  withTables(connection, async ask => {
    const rows = await ask('select status, count(*)::int as n from payments where account_id = $1 group by 1', [
      accountId,
    ]);
    return new Map(rows.map(row => [row.status as string, row.n as number]));
  });
