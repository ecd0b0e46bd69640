import pg from 'pg';
import type { Check } from './checkChain.ts';
import type { Stage } from './simulate.ts';

/**
 * A corruption of the database, and the checks of which at least one must notice it. Every statement must change a row.
 */
type Corruption = { readonly name: string; readonly noticedBy: string; readonly sql: readonly string[] };

const standing = `t.canonical and not t.stray and t.tx_hash is not null`;
const anyTransfer = `(select key from transfers t where ${standing} order by key limit 1)`;
const payment = (where: string): string => `(select id from payments where ${where} order by id limit 1)`;
const completed = payment(`status = 'completed'`);
const highestOrphan = `(select max(number) from blocks where not canonical)`;
const byBalance = (row: string): string => `${row}.canonical and not ${row}.superseded and ${row}.key like '%:delta:%'`;

const corruptions: readonly Corruption[] = [
  {
    name: 'the ledger has one base unit more',
    noticedBy: 'I16',
    sql: [
      `insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
        select account_id, environment, caip2, contract, source, destination, 0, 1 from (
          select account_id, environment, caip2, contract, source, destination from ledger_totals
          union all select account_id, environment, caip2, contract, source, destination from ledger_deltas
        ) l limit 1`,
    ],
  },
  {
    name: 'a sweep is missing in the ledger',
    noticedBy: 'I16',
    sql: [
      `insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
        select account_id, environment, caip2, contract, source, destination, -1, -amount from (
          select account_id, environment, caip2, contract, 'forwarders' as source, 'treasury' as destination, amount
          from forwards where canonical and verified
        ) l limit 1`,
    ],
  },
  {
    name: 'a transfer is lost',
    noticedBy: 'I1',
    sql: [`delete from transfers where key = ${anyTransfer}`],
  },
  {
    name: 'a transfer is stored twice',
    noticedBy: 'I1',
    sql: [
      `insert into transfers select caip2, key || '0', account_id, environment, payment_id, stray, contract, tx_hash, sender,
        amount, block_hash, block_number, canonical, verified, settled, told, first_seen_at, superseded
        from transfers where key = ${anyTransfer}`,
    ],
  },
  {
    name: 'a transfer has one base unit more',
    noticedBy: 'I1',
    sql: [`update transfers set amount = amount + 1 where key = ${anyTransfer}`],
  },
  {
    name: 'a transfer is credited to another payment',
    noticedBy: 'I1',
    sql: [
      `update transfers t set payment_id = (select id from payments p where p.id <> t.payment_id and p.contract = t.contract limit 1)
        where key = (select key from transfers t where ${standing} and contract is not null order by key limit 1)`,
    ],
  },
  {
    name: 'a transfer of an orphaned block counts',
    noticedBy: 'I1',
    sql: [
      `update transfers set canonical = true
        where key = (select key from transfers where not canonical and tx_hash is not null order by key limit 1)`,
    ],
  },
  {
    name: 'a wrong token is credited',
    noticedBy: 'I2',
    sql: [
      `update transfers set stray = false, told = false where key = (select key from transfers where stray limit 1)`,
    ],
  },
  {
    name: 'an orphaned transfer that nobody sent',
    noticedBy: 'I2',
    sql: [
      `update transfers set amount = amount + 1
        where key = (select key from transfers where not canonical and tx_hash is not null order by key limit 1)`,
    ],
  },
  {
    name: 'native coin is credited twice',
    noticedBy: 'I2',
    sql: [
      `insert into transfers select caip2, block_hash || ':delta:again', account_id, environment, payment_id, stray, contract, null,
        null, amount, block_hash, block_number, canonical, verified, settled, told, first_seen_at, false
        from transfers t where t.key = (select key from transfers t where ${standing} and contract is null limit 1)`,
    ],
  },
  {
    name: 'native coin that a contract sent to an open payment is lost',
    noticedBy: 'I2',
    sql: [
      `delete from transfers where key = (select t.key from transfers t join payments p on p.id = t.payment_id
        where ${byBalance('t')} and p.status in ('pending', 'confirming', 'reversed') order by t.key limit 1)`,
    ],
  },
  {
    // Another coin of this kind, found while the payment was open, shows that the scanner had run.
    name: 'native coin that a contract sent before the payment was closed is lost',
    noticedBy: 'I2',
    // The events have lost their index, so they are read once.
    sql: [
      `with closed as materialized (
          select payment_id as id, min(created_at) as at from events
          where status not in ('pending', 'confirming', 'reversed') group by payment_id
        ), found as materialized (select * from transfers t where ${byBalance('t')})
        delete from transfers where key = (
          select t.key from found t join payments p on p.id = t.payment_id join closed c on c.id = p.id
          where p.status = 'completed' and exists (select from found r
            where r.key <> t.key and r.block_number >= t.block_number
              and r.first_seen_at > p.created_at and r.first_seen_at < c.at)
          order by t.key limit 1)`,
    ],
  },
  {
    name: 'native coin is on record one block too early',
    noticedBy: 'I2',
    sql: [
      `update transfers t set block_number = b.number, block_hash = b.hash from blocks b
        where b.canonical and b.number = t.block_number - 1
          and t.key = (select key from transfers r where ${byBalance('r')} order by key limit 1)`,
    ],
  },
  {
    name: 'an orphaned block is canonical instead of the real one',
    noticedBy: 'I3',
    // Both at once, so that one is not mistaken for the other.
    sql: [
      `update blocks set canonical = not canonical where number = ${highestOrphan} and (canonical or hash =
        (select min(hash) from blocks where not canonical and number = ${highestOrphan}))`,
    ],
  },
  {
    name: 'a recent block is missing',
    noticedBy: 'I3',
    sql: [
      `delete from blocks where canonical and number = (select latest_number - 3 from chains where latest_number is not null)`,
    ],
  },
  {
    name: 'a block names another parent',
    noticedBy: 'I3',
    sql: [`update blocks set parent_hash = hash where canonical and number = (select max(number) from blocks)`],
  },
  {
    name: 'a payment jumps from expired to completed',
    noticedBy: 'I4',
    sql: [`update payments set status = 'completed', completed_at = now() where id = ${payment(`status = 'expired'`)}`],
  },
  {
    name: 'a history takes an edge that does not exist',
    noticedBy: 'I4',
    sql: [
      `update events set status = 'expired' where type = 'payment.confirming' and payment_id = ${completed}`,
      `update events set previous_status = 'expired' where type = 'payment.completed' and payment_id = ${completed}`,
    ],
  },
  {
    name: 'an event is written twice',
    noticedBy: 'I5',
    sql: [
      `insert into events select account_id, environment, 'evt_' || substr(md5(id), 1, 26), payment_id, sequence, type,
        status, exception, previous_status, previous_exception, body, created_at
        from events where type = 'payment.completed' and payment_id = ${completed}`,
    ],
  },
  {
    name: 'an event is lost',
    noticedBy: 'I5',
    sql: [`delete from events where type = 'payment.confirming' and payment_id = ${completed}`],
  },
  {
    name: 'the bytes of an event change',
    noticedBy: 'I5',
    sql: [`update events set body = body || ' ' where type = 'payment.completed' and payment_id = ${completed}`],
  },
  {
    name: 'a payment has received more than came',
    noticedBy: 'I7',
    sql: [`update payments set amount_received = amount_received + 1 where id = ${completed}`],
  },
  {
    name: 'a payment was completed before its funds were deep enough',
    noticedBy: 'I8',
    sql: [
      `update events set body = regexp_replace(body, '"confirmations":[0-9]+', '"confirmations":0', 'g'), id = 'evt_early' || sequence
        where type = 'payment.completed' and payment_id = ${completed}`,
    ],
  },
  {
    name: 'a payment was completed by confirmations of blocks that never were',
    noticedBy: 'I8',
    sql: [
      `update events set body = regexp_replace(body, '"confirmations":[0-9]+', '"confirmations":99999999', 'g'),
        id = 'evt_ahead' || sequence where type = 'payment.completed' and payment_id = ${completed}`,
    ],
  },
  {
    name: 'a payment is reversed though its funds stand',
    noticedBy: 'I8',
    sql: [
      `insert into events select account_id, environment, 'evt_reversed', payment_id, sequence + 1, 'payment.reversed',
        'reversed', 'reorged', status, exception, body, created_at from events e
        where payment_id = ${completed} and sequence = (select max(sequence) from events m where m.payment_id = e.payment_id)`,
      `update payments set status = 'reversed', exception = 'reorged', sequence = sequence + 1 where id = ${completed}`,
    ],
  },
  {
    name: 'a covered payment is left waiting',
    noticedBy: 'every payment',
    sql: [`update payments set status = 'pending' where id = ${completed}`],
  },
  {
    name: 'an underpaid payment says nothing of it',
    noticedBy: 'every payment',
    sql: [`update payments set exception = null where id = ${payment(`exception = 'underpaid'`)}`],
  },
  {
    name: 'a sum is called final that is not on the chain',
    noticedBy: 'every payment',
    sql: [`update payments set amount_confirmed = 0 where id = ${completed}`],
  },
];

/** Row constraints would refuse some of these. The checker must not rely on them. */
const unguarded = `set local session_replication_role = replica;
  do $$ declare c record; begin
    for c in select conrelid::regclass as tab, conname from pg_constraint
      where contype in ('c') and conrelid in ('payments'::regclass, 'events'::regclass, 'transfers'::regclass)
    loop execute format('alter table %s drop constraint %I', c.tab, c.conname); end loop;
  end $$;
  drop index events_payment;
  drop index blocks_canonical;`;

const [attempts, deadlock] = [10, '40P01'];

/** Corrupts the database in a transaction, runs the checker inside it, and rolls back. */
export const checkTheChecker = async (superuser: pg.ClientConfig, { checker, rpc }: Stage): Promise<Check[]> => {
  const client = new pg.Client(superuser);
  await client.connect();
  /** The service locks rows in another order, so a deadlock may end one of the two. */
  const begin = async (): Promise<void> => {
    for (let tried = 1; ; tried++) {
      await client.query('begin isolation level repeatable read');
      try {
        await client.query(unguarded);
        return;
      } catch (error) {
        await client.query('rollback');
        if (tried === attempts || (error as { code?: string }).code !== deadlock) throw error;
      }
    }
  };
  const tryOne = async ({ name, noticedBy, sql }: Corruption): Promise<Check> => {
    const what = `the checker notices when ${name}`;
    await begin();
    try {
      for (const statement of sql) {
        if (((await client.query(statement)).rowCount ?? 0) === 0)
          return { what, problems: ['nothing was there to spoil'] };
      }
      const checks = await checker.checkSpoiled({ client, rpc, isSettled: true });
      const noticed = checks.filter(check => check.problems.length > 0).map(check => check.what);
      const isNoticed = noticed.some(check => check.startsWith(noticedBy));
      return { what, problems: isNoticed ? [] : [`${noticedBy} did not; these did: ${noticed.join('; ') || 'none'}`] };
    } finally {
      await client.query('rollback');
    }
  };
  try {
    const results: Check[] = [];
    for (const corruption of corruptions) results.push(await tryOne(corruption));
    return results;
  } finally {
    await client.end();
  }
};
