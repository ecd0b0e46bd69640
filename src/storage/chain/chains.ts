import type { Block, Tags } from '../../core/chain.ts';
import type { Heights } from '../../core/payment/facts.ts';
import type { Database, Queryable, Row } from '../database.ts';
import { ForgedRow, requiredSealsOf, sealedUpdate, sealsOf, toSeal } from '../seals.ts';
import { branchesText, type SealedBranch } from './branches.ts';

/** The right to write to a chain. Each new lease has a higher `fence`, and writes with an old one change nothing. */
export type Lease = { readonly caip2: string; readonly fence: string };

export type ChainRow = Row & {
  caip2: string;
  startNumber: number | null;
  latestNumber: number | null;
  latestHash: string | null;
  safeNumber: number | null;
  finalizedNumber: number | null;
  agreedNumber: number | null;
  caughtUpAt: Date | null;
  coinsCaughtUpAt: Date | null;
  leaseHolder: string | null;
  leaseUntil: Date | null;
  fence: string;
  haltedAt: Date | null;
  haltReason: string | null;
  rollbackTo: number | null;
  /** Null before the first one. */
  branch: number | null;
};

// Heights are far below 2^53, so they are read as numbers.
const chainColumns = `c.caip2, c.start_number::float8 as "startNumber", c.latest_number::float8 as "latestNumber",
  c.latest_hash as "latestHash", c.safe_number::float8 as "safeNumber", c.finalized_number::float8 as "finalizedNumber",
  c.agreed_number::float8 as "agreedNumber", c.caught_up_at as "caughtUpAt", c.coins_caught_up_at as "coinsCaughtUpAt",
  c.lease_holder as "leaseHolder", c.lease_until as "leaseUntil", c.fence, c.halted_at as "haltedAt",
  c.halt_reason as "haltReason", c.rollback_to::float8 as "rollbackTo", c.branch::float8 as branch`;

/** A chain whose row was changed by somebody else stands still: everything that reads it throws. */
const seals = requiredSealsOf({ c: 'chains' });

const readChainsStatement = {
  name: 'chains-read',
  text: `select ${chainColumns}, ${seals} from chains c where c.caip2 = any($1::text[])`,
};
export const readChains = (db: Queryable, caip2s: readonly string[]): Promise<ChainRow[]> =>
  db.query<ChainRow>(readChainsStatement, [caip2s]);

export type ChainMoment = Heights & {
  readonly caughtUpAt: Date | null;
  readonly coinsCaughtUpAt: Date | null;
  readonly branch: number | null;
  /** The branches after the one that was asked for. */
  readonly branches: readonly SealedBranch[];
};

export type Moment = {
  /** The database's clock. */
  readonly now: Date;
  /** A chain whose row does not match its seal is left out. */
  readonly chains: ReadonlyMap<string, ChainMoment>;
};

// The row of the clock names no chain, so that it is there whatever happened to the others.
const momentStatement = {
  name: 'chains-moment',
  text: `select clock.now, c.caip2, c.latest_number::float8 as latest, c.safe_number::float8 as safe,
      c.finalized_number::float8 as finalized, c.agreed_number::float8 as agreed, c.caught_up_at as "caughtUpAt",
      c.coins_caught_up_at as "coinsCaughtUpAt", c.branch::float8 as branch, ${branchesText('c.caip2', 'asked.branch')} as branches,
      ${sealsOf({ c: 'chains' })}
    from (select clock_timestamp()::timestamptz(3) as now) clock
      cross join (select null as caip2, null as branch union all select * from unnest($1::text[], $2::bigint[])) asked
      left join chains c on c.caip2 = asked.caip2`,
};
/** The database's time, and how far these chains are read, each with its branches after one. */
export const readMoment = async (db: Queryable, after: ReadonlyMap<string, number>): Promise<Moment> => {
  const rows = await db.query<Row & ChainMoment & { now: Date; caip2: string | null }>(momentStatement, [
    [...after.keys()],
    [...after.values()],
  ]);
  return {
    now: rows[0]!.now,
    chains: new Map(rows.flatMap(row => (row.caip2 === null ? [] : [[row.caip2, row]]))),
  };
};

const allChainsStatement = {
  name: 'chains-all',
  text: `select ${chainColumns}, ${sealsOf({ c: 'chains' })} from chains c order by c.caip2`,
};
export const allChains = (db: Queryable): Promise<ChainRow[]> => db.query<ChainRow>(allChainsStatement);

/** How long a lease lasts without renewal. */
export const leaseSeconds = 10;

// `on conflict do update` would wait for the transaction that is writing to the chain, and hold a connection meanwhile.
const takeLeaseStatement = {
  name: 'chain-take-lease',
  text: `with first as (
      insert into chains as c (caip2, lease_holder, lease_until, fence)
      values ($1, $2, clock_timestamp() + $3 * interval '1 second', 1)
      on conflict (caip2) do nothing returning ${chainColumns}, ${toSeal('chains', 'c')}, '[]'::json as required
    ), free as (
      select caip2 from chains
      where caip2 = $1 and (lease_until is null or lease_until < clock_timestamp() or lease_holder = $2)
      for update skip locked
    ), taken as (
      update chains c set lease_holder = $2, lease_until = clock_timestamp() + $3 * interval '1 second',
        fence = c.fence + 1
      from free where c.caip2 = free.caip2 returning ${chainColumns}, null::json as unsealed, ${seals}
    )
    select * from first union all select * from taken`,
};
/**
 * Takes the lease and returns the chain; null when another process holds it or is writing to the chain. A process that
 * was killed and restarts under the same name need not wait for its own lease to end: the new fence shuts out the old
 * run.
 */
export const takeLease = (
  db: Database,
  lease: { caip2: string; holder: string; seconds: number },
): Promise<ChainRow | null> =>
  db.transaction(
    async tx => (await tx.query<ChainRow>(takeLeaseStatement, [lease.caip2, lease.holder, lease.seconds]))[0] ?? null,
  );

// While a step of ours holds the row, nobody can take the lease, and the step ends by extending it. Waiting for the
// step would hold a connection and delay the reading of the row.
const renewLeaseStatement = {
  name: 'chain-renew-lease',
  text: `with free as (
      select caip2 from chains where caip2 = $1 and fence = $2 and lease_holder is not null for update skip locked
    ), renewed as (
      update chains c set lease_until = clock_timestamp() + $3 * interval '1 second'
      from free where c.caip2 = free.caip2
    )
    select ${chainColumns}, ${seals} from chains c where c.caip2 = $1 and c.fence = $2 and c.lease_holder is not null`,
};
/** Renews the lease and returns the chain; null when the lease is lost. */
export const renewLease = async (db: Queryable, { caip2, fence }: Lease, seconds: number): Promise<ChainRow | null> =>
  (await db.query<ChainRow>(renewLeaseStatement, [caip2, fence, seconds]))[0] ?? null;

const releaseLeaseStatement = {
  name: 'chain-release-lease',
  text: `update chains set lease_holder = null, lease_until = null where caip2 = $1 and fence = $2`,
};
export const releaseLease = async (db: Queryable, { caip2, fence }: Lease): Promise<void> => {
  await db.query(releaseLeaseStatement, [caip2, fence]);
};

const lockChainStatement = {
  name: 'chain-lock',
  text: `select ${chainColumns}, ${seals},
      (select max(g.number) from chain_branches g where g.caip2 = c.caip2)::float8 as "newestBranch"
    from chains c where c.caip2 = $1 and c.fence = $2 for update`,
};
/** Locks the chain until the transaction ends; null when the lease is lost. Throws if somebody put an earlier row back. */
export const lockChain = async (tx: Queryable, { caip2, fence }: Lease): Promise<ChainRow | null> => {
  const [row] = await tx.query<ChainRow & { newestBranch: number | null }>(lockChainStatement, [caip2, fence]);
  if (row === undefined) return null;
  const { newestBranch, ...chain } = row;
  if (newestBranch !== chain.branch) throw new ForgedRow('chains');
  return chain as ChainRow;
};

const holdChainStatement = {
  name: 'chain-hold',
  text: 'select 1 as one from chains where caip2 = $1 for no key update',
};
/** Keeps the process that reads the chain from changing facts until the transaction ends. */
export const holdChain = async (tx: Queryable, caip2: string): Promise<void> => {
  await tx.query(holdChainStatement, [caip2]);
};

/** PostgreSQL's least() ignores nulls: a missing tag would become the height it is compared with. */
const upTo = (tag: string, height: string): string =>
  `case when ${tag}::bigint is not null then least(${tag}, ${height}) end`;

const ofLease = 't.caip2 = $1 and t.fence = $2';

const moveChainStatement = {
  name: 'chain-move',
  text: sealedUpdate('chains', {
    set: {
      start_number: 'coalesce(t.start_number, $3)',
      latest_number: '$3',
      latest_hash: '$4',
      branch: '$8',
      safe_number: upTo('$5', '$3'),
      finalized_number: upTo('$6', '$3'),
      agreed_number: upTo('$7', '$3'),
      lease_until: `case when t.lease_holder is not null
        then greatest(t.lease_until, clock_timestamp() + ${leaseSeconds} * interval '1 second') end`,
    },
    where: ofLease,
  }),
};
/**
 * Sets the cursor with its branch, and the tags as far as it reaches. It also extends the lease, because renewals skip the row while
 * the caller has it locked.
 */
export const moveChain = async (
  tx: Queryable,
  { caip2, fence }: Lease,
  { number, hash, branch }: Pick<Block, 'number' | 'hash'> & { readonly branch: number },
  { safe, finalized, agreed }: Tags,
): Promise<void> => {
  await tx.query(moveChainStatement, [caip2, fence, number, hash, safe, finalized, agreed, branch]);
};

const idleStatement = {
  name: 'chain-idle',
  text: sealedUpdate('chains', {
    set: {
      safe_number: upTo('$3', 't.latest_number'),
      finalized_number: upTo('$4', 't.latest_number'),
      agreed_number: upTo('$5', 't.latest_number'),
      caught_up_at: 'greatest(t.caught_up_at, $6)',
    },
    where: ofLease,
  }),
};
/** Records a poll without a new block: the tags and, if every block is processed, when that poll began. */
export const writeIdle = async (
  db: Database,
  { caip2, fence }: Lease,
  tags: Tags,
  caughtUpSince: Date | null,
): Promise<void> => {
  const values = [caip2, fence, tags.safe, tags.finalized, tags.agreed, caughtUpSince];
  await db.transaction(tx => tx.query(idleStatement, values));
};

const coinsCaughtUpStatement = {
  name: 'chain-coins-caught-up',
  text: sealedUpdate('chains', { set: { coins_caught_up_at: 'greatest(t.coins_caught_up_at, $3)' }, where: ofLease }),
};
/** Records that the balances of all open native-coin payments were read after this time. */
export const writeCoinsCaughtUp = async (db: Database, { caip2, fence }: Lease, since: Date): Promise<void> => {
  await db.transaction(tx => tx.query(coinsCaughtUpStatement, [caip2, fence, since]));
};

const haltStatement = {
  name: 'chain-halt',
  text: sealedUpdate('chains', {
    set: { halted_at: 'coalesce(t.halted_at, clock_timestamp())', halt_reason: '$3' },
    where: ofLease,
  }),
};
export const haltChain = async (db: Database, { caip2, fence }: Lease, reason: string): Promise<void> => {
  await db.transaction(tx => tx.query(haltStatement, [caip2, fence, reason.slice(0, 1000)]));
};

const resumeStatement = {
  name: 'chain-resume',
  text: sealedUpdate('chains', {
    set: { halted_at: 'null', halt_reason: 'null', rollback_to: '$2' },
    where: 't.caip2 = $1 and t.halted_at is not null',
    returning: 't.caip2',
  }),
};
/** Resumes the chain as the operator decided. False when it was not halted. */
export const resumeChain = async (db: Database, caip2: string, rollbackTo: number | null): Promise<boolean> =>
  (await db.transaction(tx => tx.query(resumeStatement, [caip2, rollbackTo]))).length === 1;

const clearRollbackStatement = {
  name: 'chain-rolled-back',
  text: sealedUpdate('chains', { set: { rollback_to: 'null' }, where: 't.caip2 = $1' }),
};
/** Clears the rollback that the operator asked for, once it is done. */
export const clearRollback = async (tx: Queryable, caip2: string): Promise<void> => {
  await tx.query(clearRollbackStatement, [caip2]);
};
