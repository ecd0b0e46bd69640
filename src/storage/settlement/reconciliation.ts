import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Lease } from '../chain/chains.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { paymentKeys } from '../payments/paymentKeys.ts';

export type Reconciliation = Row & {
  caip2: string;
  /** The last payment compared in this round; empty before the first. */
  after: string;
  roundStartedAt: Date | null;
  /** Addresses compared in this round. */
  compared: number;
  /** The end of the last complete round, and how many addresses it compared. */
  finishedAt: Date | null;
  finishedCompared: number | null;
  /** Whether an operator asked for a round that is not finished. */
  isRequested: boolean;
  /** Seconds since the round was started; null before the first one. */
  ageSeconds: number | null;
  /** Whether the round is not complete. */
  isRunning: boolean;
};

const progressColumns = `caip2, after_id as after, round_started_at as "roundStartedAt", compared::float8 as compared,
  finished_at as "finishedAt", finished_compared::float8 as "finishedCompared",
  requested_at is not null as "isRequested",
  extract(epoch from clock_timestamp() - round_started_at)::float8 as "ageSeconds",
  round_started_at is not null and coalesce(finished_at < round_started_at, true) as "isRunning"`;

const readStatement = {
  name: 'reconciliation-read',
  text: `select ${progressColumns} from reconciliations where caip2 = $1`,
};
export const readReconciliation = async (db: Queryable, caip2: string): Promise<Reconciliation | null> =>
  (await db.query<Reconciliation>(readStatement, [caip2]))[0] ?? null;

const allStatement = {
  name: 'reconciliation-all',
  text: `select ${progressColumns} from reconciliations order by caip2`,
};
export const allReconciliations = (db: Queryable): Promise<Reconciliation[]> => db.query<Reconciliation>(allStatement);

const startStatement = {
  name: 'reconciliation-start',
  text: `insert into reconciliations as r (caip2, round_started_at)
    select caip2, clock_timestamp() from chains where caip2 = $1 and fence = $2
    on conflict (caip2) do update set after_id = '', compared = 0, round_started_at = clock_timestamp()`,
};
export const startRound = async (db: Queryable, { caip2, fence }: Lease): Promise<void> => {
  await db.query(startStatement, [caip2, fence]);
};

const advanceStatement = {
  name: 'reconciliation-advance',
  text: `update reconciliations r set compared = r.compared + $3, after_id = coalesce($4, ''),
      finished_at = case when $4 is null then clock_timestamp() else r.finished_at end,
      finished_compared = case when $4 is null then r.compared + $3 else r.finished_compared end,
      requested_at = case when $4 is null and r.requested_at <= r.round_started_at then null else r.requested_at end
    from chains c where r.caip2 = $1 and c.caip2 = r.caip2 and c.fence = $2`,
};
/** Records how far the round has come. Without `after`, it is complete. */
export const advanceRound = async (
  db: Queryable,
  { caip2, fence }: Lease,
  compared: number,
  after: string | null,
): Promise<void> => {
  await db.query(advanceStatement, [caip2, fence, compared, after]);
};

const requestStatement = {
  name: 'reconciliation-request',
  text: `insert into reconciliations as r (caip2, requested_at) select caip2, clock_timestamp() from chains
      where latest_number is not null and halted_at is null and lease_until > clock_timestamp()
    on conflict (caip2) do update set requested_at = clock_timestamp() returning ${progressColumns}`,
};
/** Asks for a round of every chain that a process reads now. */
export const requestRounds = (db: Queryable): Promise<Reconciliation[]> => db.query<Reconciliation>(requestStatement);

/** A forwarder whose balances are compared on a chain. */
export type ComparedForwarder = PaymentKey & {
  readonly address: string;
  /** Its own token, if this is its own chain: null for the native coin. */
  readonly contract: string | null;
  /** Whether it has an open difference on the chain. */
  readonly isOpen: boolean;
};

const pageStatement = {
  name: 'reconciliation-page',
  text: `select p.account_id as "accountId", p.environment, p.id, p.address,
      case when p.caip2 = $1 then p.contract end as contract,
      exists (select from differences d where d.payment_id = p.id and d.caip2 = $1 and d.resolved_at is null) as "isOpen",
      p.wallet_kind = 'forwarder' and (p.caip2 = $1 or p.strayed and exists (
        select from transfers t where t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
          and t.caip2 = $1)) as "isCompared"
    from payments p where p.id > $2 order by p.id limit $3`,
};
/** The next payments of all chains, and which of them have a forwarder with funds on this one. */
export const nextForwarders = async (
  db: Queryable,
  caip2: string,
  after: string,
  limit: number,
): Promise<{ readonly forwarders: readonly ComparedForwarder[]; readonly after: string | null }> => {
  const rows = await db.query<Row & ComparedForwarder & { isCompared: boolean }>(pageStatement, [caip2, after, limit]);
  return {
    forwarders: rows.filter(({ isCompared }) => isCompared),
    after: rows.length < limit ? null : rows.at(-1)!.id,
  };
};

export type RecordedBalance = { readonly id: string; readonly contract: string | null; readonly held: string };

const recordedStatement = {
  name: 'reconciliation-recorded',
  text: `select k.id, nullif(r.contract, '') as contract, r.held::text as held
    from ${paymentKeys.rows('k')}
      cross join lateral forwarder_records(k.account_id, k.environment, k.id, $5) r where r.caip2 = $4`,
};
/** What forwarders hold on a chain up to a block, according to the records. */
export const recordedBalances = (
  db: Queryable,
  caip2: string,
  keys: readonly PaymentKey[],
  upTo: number,
): Promise<RecordedBalance[]> =>
  db.query<Row & RecordedBalance>(recordedStatement, [...paymentKeys.values(keys), caip2, upTo]);

const agreeStatement = {
  name: 'differences-agree',
  text: `update differences d set resolved_at = clock_timestamp(), checked_at = clock_timestamp()
    from chains c, unnest($3::text[], $4::text[]) as a(id, contract)
    where d.payment_id = a.id and coalesce(d.contract, '') = a.contract and d.caip2 = $1 and d.resolved_at is null
      and c.caip2 = $1 and c.fence = $2`,
};
/** Resolves the differences of forwarders whose balance of this token agrees with the records again. */
export const resolveAgreeing = async (
  db: Queryable,
  { caip2, fence }: Lease,
  agreeing: readonly { readonly id: string; readonly contract: string | null }[],
): Promise<void> => {
  if (agreeing.length === 0) return;
  await db.query(agreeStatement, [
    caip2,
    fence,
    agreeing.map(({ id }) => id),
    agreeing.map(({ contract }) => contract ?? ''),
  ]);
};

/** A balance that differs from the records and waits until its block is final. */
export type SuspectedDifference = PaymentKey & {
  readonly contract: string | null;
  readonly balance: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
};

const suspected = columns<SuspectedDifference>(
  {
    account_id: ['text', s => s.accountId],
    environment: ['environment', s => s.environment],
    payment_id: ['text', s => s.id],
    contract: ['text', s => s.contract ?? ''],
    balance: ['numeric', s => s.balance.toString()],
    block_number: ['bigint', s => s.blockNumber],
    block_hash: ['text', s => s.blockHash],
  },
  { first: 2 },
);
const suspectStatement = {
  name: 'differences-suspect',
  text: `insert into suspected_differences (caip2, ${suspected.names})
    select $1, s.* from ${suspected.rows('s')}
    on conflict do nothing`,
};
/** Keeps differences until their block is final. One that waits already stays as it is. */
export const suspectDifferences = async (
  db: Queryable,
  caip2: string,
  suspects: readonly SuspectedDifference[],
): Promise<void> => {
  if (suspects.length === 0) return;
  await db.query(suspectStatement, [caip2, ...suspected.values(suspects)]);
};

const suspectedStatement = {
  name: 'differences-suspected',
  text: `select account_id as "accountId", environment, payment_id as id, nullif(contract, '') as contract,
      balance::text as balance, block_number::float8 as "blockNumber", block_hash as "blockHash"
    from suspected_differences where caip2 = $1 and block_number <= $2 order by block_number limit $3`,
};
/** Those whose block is at or below a height. */
export const suspectedUpTo = async (
  db: Queryable,
  caip2: string,
  height: number,
  limit: number,
): Promise<SuspectedDifference[]> => {
  const rows = await db.query<Row & Omit<SuspectedDifference, 'balance'> & { balance: string }>(suspectedStatement, [
    caip2,
    height,
    limit,
  ]);
  return rows.map(row => ({ ...row, balance: BigInt(row.balance) }));
};

const forgetStatement = {
  name: 'differences-forget',
  text: 'delete from suspected_differences where caip2 = $1 and block_hash = $2',
};
export const forgetSuspected = async (db: Queryable, caip2: string, blockHash: string): Promise<void> => {
  await db.query(forgetStatement, [caip2, blockHash]);
};

const countSuspectedStatement = {
  name: 'differences-suspected-count',
  text: 'select count(*)::int as count from suspected_differences',
};
export const countSuspected = async (db: Queryable): Promise<number> =>
  (await db.query<Row & { count: number }>(countSuspectedStatement))[0]!.count;
