import type { Epoch } from '../../core/epoch.ts';
import { firstIdAt } from '../../core/ids.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { gateName } from '../deployment.ts';
import type { RowSealer } from '../largeSeals.ts';
import { sealsOf, toSeal } from '../seals.ts';
import { type LostAddress, sealLostAddress } from './lostAddressSeals.ts';

// The timeline is that of the WAL: the one of the last checkpoint lags behind the promotion of a replica. It can be asked
// only outside of recovery, where nothing can be written either.
const liveIdentity = `(select s.system_identifier || '/'
      || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint || '/' || d.oid
    from pg_control_system() s, pg_database d where d.datname = current_database())`;
const identityStatement = { name: 'database-identity', text: `select ${liveIdentity} as identity` };
/** Changes when the database is restored from a dump or to an earlier moment, and when another server takes over. */
export const readDatabaseIdentity = async (db: Queryable): Promise<string> =>
  (await db.query<Row & { identity: string }>(identityStatement))[0]!.identity;

const claimStatement = {
  name: 'database-identity-claim',
  text: `insert into deployment as d (name, value) values ('database_identity', $1)
    on conflict (name) do update set value = excluded.value where d.value <> excluded.value
    returning (xmax <> 0) as changed`,
};
/** True when the database was another one before. Of several processes, only one gets true. */
export const claimDatabaseIdentity = async (tx: Queryable, identity: string): Promise<boolean> =>
  (await tx.query<Row & { changed: boolean }>(claimStatement, [identity]))[0]?.changed ?? false;

// 2025 is the first year of the numbers, so that 31 bits last until 2093.
const epochsBesideClock = `(
      select floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01 00:00:00Z'))::bigint as number
    ) clock left join derivation_epochs e on true`;
/** The holder of epochs that a restore lost. An operator may have mistyped one, so it moves no epoch ahead of the clock. */
const lostHolder = 'lost';

// The epochs that are there are not held against their seals: a forged one moves the next one ahead, never back.
const takeEpochStatement = {
  name: 'epoch-take',
  text: `insert into derivation_epochs as t (number, mark, holder)
    select greatest(
        coalesce(max(e.number) filter (where e.holder <> '${lostHolder}' or e.number <= clock.number), 0) + 1,
        $1::bigint + 1, clock.number) + $4::bigint, $2, $3
    from ${epochsBesideClock} group by clock.number
    on conflict (number) do nothing returning number, ${toSeal('derivation_epochs', 't')}`,
};
/** Numbers in a row that may be taken already: by processes that start at this moment, and by lost epochs. */
const mostTaken = 10_000;
/** Takes an epoch that this database has not given out and that is above `above`. */
export const takeEpoch = async (
  tx: Queryable,
  { above, mark, holder }: { readonly above: number; readonly mark: number; readonly holder: string },
): Promise<Epoch> => {
  for (let passed = 0; passed < mostTaken; passed++) {
    const [row] = await tx.query<Row & { number: string }>(takeEpochStatement, [above, mark, holder, passed]);
    if (row) return { number: Number(row.number), mark };
  }
  throw new Error('no derivation epoch is free');
};

const judgeEpochStatement = {
  name: 'epoch-judge',
  text: `select coalesce(bool_or(e.number = $1::bigint and e.mark = $2 and e.holder <> '${lostHolder}'), false) as "isOwn",
      $1::bigint > greatest(clock.number, max(e.number) filter (where e.holder <> '${lostHolder}')) as "isFuture"
    from ${epochsBesideClock} group by clock.number`,
};
/**
 * Whether processes of this database took the epoch, and whether it is later than now. Own epochs can be ahead of the
 * clock after many starts at once, and lost ones with them.
 */
export const judgeEpoch = async (
  tx: Queryable,
  { number, mark }: Epoch,
): Promise<{ readonly isOwn: boolean; readonly isFuture: boolean }> =>
  (await tx.query<Row & { isOwn: boolean; isFuture: boolean }>(judgeEpochStatement, [number, mark]))[0]!;

const knownEpochsStatement = {
  name: 'epochs-known',
  text: `select e.number::float8 as number, e.mark, ${sealsOf({ e: 'derivation_epochs' })} from derivation_epochs e
      join unnest($1::bigint[], $2::smallint[]) as asked(number, mark) on asked.number = e.number and asked.mark = e.mark`,
};
/** Those epochs that the database does not know. One that somebody else wrote into it could hide a restore. */
export const unknownEpochs = async (db: Queryable, epochs: readonly Epoch[]): Promise<Epoch[]> => {
  if (epochs.length === 0) return [];
  const rows = await db.query<Row & Epoch>(knownEpochsStatement, [
    epochs.map(({ number }) => number),
    epochs.map(({ mark }) => mark),
  ]);
  const known = new Set(rows.map(({ number }) => number));
  return epochs.filter(({ number }) => !known.has(number));
};

const insertEpochsStatement = {
  name: 'epochs-insert',
  text: `insert into derivation_epochs as t (number, mark, holder)
    select number, mark, '${lostHolder}' from unnest($1::bigint[], $2::smallint[]) as e(number, mark)
    on conflict do nothing returning ${toSeal('derivation_epochs', 't')}`,
};
/** Records epochs that were taken before a restore, so that they are noticed once. */
export const insertLostEpochs = async (tx: Queryable, epochs: readonly Epoch[]): Promise<void> => {
  await tx.query(insertEpochsStatement, [epochs.map(({ number }) => number), epochs.map(({ mark }) => mark)]);
};

const tailsStatement = {
  name: 'epochs-tails',
  text: `with newest as (select number * 4096 + mark as name from derivation_epochs order by number desc limit $5)
    select w.account_id as "accountId", w.environment, w.destination, (e.name / 4096)::float8 as number,
      (e.name % 4096)::int as mark, max(e.last)::text as last
    from unnest($1::text[], $2::environment[], $3::text[]) as w(account_id, environment, destination)
      cross join lateral (
        (select derivation_index / $4 as name, max(derivation_index) as last from (
            select derivation_index from payments where account_id = w.account_id and environment = w.environment
              and wallet_kind = 'forwarder'
            order by id desc limit 2000
          ) p where derivation_index >= $4 * 4096::bigint group by 1 order by max(derivation_index) desc limit $5)
        union all
        select name, null from newest
      ) e
    group by 1, 2, 3, e.name`,
};
export type EpochTail = Row & {
  accountId: string;
  environment: UsedWallet['environment'];
  destination: string;
  number: number;
  mark: number;
  /** The last index of the epoch that a payment of the account has; null if none is known. */
  last: string | null;
};
/**
 * How far epochs were used for each of these wallets, according to the payments that are known: the newest epochs of the
 * newest payments, and the newest of all. Processes that were started after a restore take epochs, too.
 */
export const epochTails = (
  tx: Queryable,
  wallets: readonly UsedWallet[],
  indexesPerEpoch: number,
  epochs: number,
): Promise<EpochTail[]> =>
  tx.query<EpochTail>(tailsStatement, [
    wallets.map(({ accountId }) => accountId),
    wallets.map(({ environment }) => environment),
    wallets.map(({ destination }) => destination),
    indexesPerEpoch,
    epochs,
  ]);

/** What waits for the operator after a restore: nothing, payments on extended public keys, or all of production too. */
export type RestoreGate = 'open' | 'extended_keys' | 'production';

// The identity is compared with every index: a replica that takes over may have missed the last indexes that were handed
// out, and a process that stays up would hand them out again.
const takeIndexStatement = {
  name: 'derivation-take',
  text: `insert into derivation_counters as c (series, next)
    select $1, 1 where exists (select from deployment where name = '${gateName}' and value like 'open %')
      and exists (select from deployment where name = 'database_identity' and value = ${liveIdentity})
    on conflict (series) do update set next = c.next + 1
    returning next, (select value from deployment where name = '${gateName}') as gate`,
};
/**
 * Reserves an index of an extended public key that nobody else gets. Null while a restore waits for the operator, and
 * when the database is not the one that was known. The gate comes with it, to be held against its seal.
 */
export const takeIndex = async (
  db: Queryable,
  series: string,
): Promise<{ readonly index: bigint; readonly gate: string } | null> => {
  const [row] = await db.query<Row & { next: string; gate: string }>(takeIndexStatement, [series]);
  return row ? { index: BigInt(row.next) - 1n, gate: row.gate } : null;
};

const nextIndexStatement = {
  name: 'derivation-next',
  text: `select coalesce((select next from derivation_counters where series = $1), 0)::float8 as next`,
};
/** The next index of an extended public key, without taking it. */
export const nextIndex = async (db: Queryable, series: string): Promise<number> =>
  (await db.query<Row & { next: number }>(nextIndexStatement, [series]))[0]!.next;

const skipStatement = {
  name: 'derivation-skip',
  text: `insert into derivation_counters as c (series, next) values ($1, $2)
    on conflict (series) do update set next = c.next + $2 returning next`,
};
/** Moves a counter ahead. Returns the first index that was skipped. */
export const skipIndexes = async (tx: Queryable, series: string, count: number): Promise<bigint> => {
  const [row] = await tx.query<Row & { next: string }>(skipStatement, [series, count]);
  return BigInt(row!.next) - BigInt(count);
};

export type UsedWallet = Row & {
  accountId: string;
  environment: 'production' | 'sandbox';
  kind: 'forwarder' | 'xpub';
  destination: string;
};
const usedWalletsStatement = {
  name: 'wallets-used',
  text: `select distinct account_id as "accountId", environment, kind, destination from wallets
    order by account_id, environment, kind, destination`,
};
/** All destinations that payments may have been created for. */
export const usedWallets = (db: Queryable): Promise<UsedWallet[]> => db.query<UsedWallet>(usedWalletsStatement);

const lostAddresses = columns<LostAddress & { readonly seal: Buffer }>({
  address: ['text', l => l.address],
  account_id: ['text', l => l.accountId],
  environment: ['environment', l => l.environment],
  wallet_kind: ['text', l => l.walletKind],
  treasury: ['text', l => l.treasury],
  derivation_index: ['bigint', l => l.index.toString()],
  row_seal: ['bytea', l => l.seal],
});
const insertLostStatement = {
  name: 'lost-addresses-insert',
  text: `insert into lost_addresses (${lostAddresses.names})
    select l.* from ${lostAddresses.rows('l')}
      where not exists (select from payments p where p.address = l.address)
    on conflict do nothing returning 1 as added`,
};
/** Watches these addresses from now on, but for those that belong to payments. Returns how many are new. */
export const insertLostAddresses = async (
  tx: Queryable,
  sealer: RowSealer,
  lost: readonly LostAddress[],
): Promise<number> => {
  const sealed = lost.map(each => ({ ...each, seal: sealLostAddress(sealer, each) }));
  return (await tx.query(insertLostStatement, lostAddresses.values(sealed))).length;
};

const lostSeriesStatement = {
  name: 'lost-series',
  text: `select account_id as "accountId", environment, treasury as destination, max(derivation_index)::text as last,
      count(*)::int as count
    from lost_addresses where wallet_kind = 'forwarder'
    group by account_id, environment, treasury, derivation_index / $1::bigint
    order by max(derivation_index) desc`,
};
export type LostSeries = Row & {
  accountId: string;
  environment: UsedWallet['environment'];
  destination: string;
  last: string;
  count: number;
};
/** How many forwarders are watched of each epoch, account and treasury, newest epochs first. */
export const lostSeries = (db: Queryable, indexesPerEpoch: number): Promise<LostSeries[]> =>
  db.query<LostSeries>(lostSeriesStatement, [indexesPerEpoch]);

// Starts less than an hour apart count as one run. Too early a start costs time; too late a one would overlook funds.
const runStatement = {
  name: 'restore-run',
  text: `select min(taken_at) as "knownSince", max(taken_at) filter (where begins) as "runSince" from (
      select taken_at,
        coalesce(taken_at - lag(taken_at) over (order by taken_at) > interval '1 hour', true) as begins
      from (select taken_at from derivation_epochs where holder <> '${lostHolder}' order by number desc limit 1000) e
    ) starts`,
};
type Run = { readonly knownSince: Date | null; readonly runSince: Date | null };
const newestPaymentStatement = {
  name: 'restore-newest-payment',
  // Ids sort by creation, and have an index.
  text: `select created_at as at from payments where id < $1 order by id desc limit 1`,
};
/**
 * A time before the backup: the newest payment before the processes of this run started or, without one, the first
 * start. Null if nothing ever started.
 */
export const timeBeforeRun = async (tx: Queryable): Promise<Date | null> => {
  const { knownSince, runSince } = (await tx.query<Row & Run>(runStatement))[0]!;
  if (runSince === null) return null;
  const values = [firstIdAt('payment', runSince.getTime())];
  return (await tx.query<Row & { at: Date }>(newestPaymentStatement, values))[0]?.at ?? knownSince;
};

const rescanStatement = {
  name: 'restore-rescans',
  text: `insert into rescans (caip2, from_time, to_number, reason)
    select c.caip2, $1, c.latest_number, 'addresses were lost by a restore'
    from chains c where c.latest_number is not null`,
};
/**
 * Asks for all chains to be read again since a time: the restored process may have passed blocks with funds for lost
 * addresses before these were watched.
 */
export const rescanAfterRestore = async (tx: Queryable, since: Date): Promise<void> => {
  await tx.query(rescanStatement, [since]);
};
