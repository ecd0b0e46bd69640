import { clockSlackMs, type Movement, type WatchedBlock } from '../../core/chain.ts';
import { mostUnits } from '../../core/money.ts';
import type { Heights } from '../../core/payment/facts.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { paymentKeys } from '../payments/paymentKeys.ts';

const knownAddressesStatement = {
  name: 'addresses-known',
  // A lookup for each address, so that no plan reads the whole table, whatever its statistics say.
  text: `select p.address from unnest($1::text[]) as asked(address)
      cross join lateral (
        (select address from payments where address = asked.address limit 1)
        union all (select address from lost_addresses where address = asked.address)
      ) p`,
};
/** Those addresses that belong to payments of any account and chain, or did before a restore. */
export const knownAddresses = async (db: Queryable, addresses: readonly string[]): Promise<Set<string>> => {
  if (addresses.length === 0) return new Set();
  const rows = await db.query<{ address: string }>(knownAddressesStatement, [addresses]);
  return new Set(rows.map(row => row.address));
};

/** A block with what it moved. */
export type PlacedMovements = Pick<WatchedBlock, 'hash' | 'number' | 'timestamp' | 'movements'>;

type Amounted = { readonly amount: bigint; readonly verified: boolean };

/** An amount beyond what is recorded is stored as the most that is, and never as verified. */
export const storedAmount = ({ amount }: Amounted): string => (amount > mostUnits ? mostUnits : amount).toString();
export const isStoredVerified = ({ amount, verified }: Amounted): boolean => verified && amount <= mostUnits;

/** The first parameter is the chain. */
const placed = columns<{ readonly movement: Movement; readonly block: PlacedMovements }>(
  {
    key: ['text', p => p.movement.key],
    address: ['text', p => p.movement.to],
    contract: ['text', p => p.movement.contract],
    tx_hash: ['text', p => p.movement.txHash],
    sender: ['text', p => p.movement.from],
    amount: ['numeric', p => storedAmount(p.movement)],
    block_hash: ['text', p => p.block.hash],
    block_number: ['bigint', p => p.block.number],
    block_time: ['float8', p => p.block.timestamp],
    verified: ['boolean', p => isStoredVerified(p.movement)],
  },
  { first: 2 },
);

/**
 * For a payment p and a movement i. Anybody can send to the addresses of an extended public key before they are handed out,
 * and a watcher that is behind reads those blocks after the payment was created. Height and time must both be older: a reorg
 * mines a payer's transaction again in a lower block, and a sequencer that was down catches up with blocks of old times.
 */
const isNotOlder = `(p.wallet_kind = 'forwarder' or i.block_number > p.head_number
        or to_timestamp(i.block_time) >= p.created_at - interval '${clockSlackMs} milliseconds')`;

// Earlier sightings are looked up once per transaction hash. Per transfer, each of a thousand transfers in one
// transaction would read a thousand rows: 10,000 transfers took 4.5 s instead of 0.6. `offset 0` keeps payments looked up one
// by one: a join planned while the table is new would read all of it.
const insertMovementsStatement = {
  name: 'movements-insert',
  text: `with seen as materialized (
      select h.tx_hash, s.payment_id, s.first_seen_at
      from (select distinct tx_hash from unnest(${placed.array('tx_hash')}) as u(tx_hash)) h
        cross join lateral (
          select t.payment_id, min(t.first_seen_at) as first_seen_at from transfers t
          where t.tx_hash = h.tx_hash and t.caip2 = $1 group by t.payment_id
        ) s
    ), unclaimed as (
      insert into unclaimed_funds (caip2, key, address, contract, tx_hash, sender, amount, block_hash, block_number,
        canonical, verified)
      select $1, i.key, l.address, i.contract, i.tx_hash, i.sender, i.amount, i.block_hash, i.block_number, true, i.verified
      from ${placed.rows('i')}
        cross join lateral (select address from lost_addresses where address = i.address) l
      where not exists (select from payments where address = i.address offset 0)
      on conflict (caip2, key) do nothing returning address
    ), written as (
      insert into transfers as old (caip2, key, account_id, environment, payment_id, stray, contract, tx_hash, sender,
        amount, block_hash, block_number, canonical, verified, first_seen_at)
      select $1, i.key, p.account_id, p.environment, p.id, p.caip2 <> $1 or p.contract is distinct from i.contract,
        i.contract, i.tx_hash, i.sender, i.amount, i.block_hash, i.block_number, true, i.verified,
        least(clock_timestamp(), s.first_seen_at)
      from ${placed.rows('i')}
        cross join lateral (select * from payments where address = i.address offset 0) p
        left join seen s on s.tx_hash = i.tx_hash and s.payment_id = p.id
      where ${isNotOlder}
      on conflict (caip2, key) do update set superseded = false where old.superseded
      returning 1
    )
    select (select count(*)::int from written) as written, array(select address from unclaimed) as unclaimed`,
};
/** How many transfers were not on record, and the addresses whose payments a restore lost. */
export type WrittenMovements = { readonly written: number; readonly unclaimed: readonly string[] };

/**
 * Writes the transfers of blocks to payment addresses, each once. Others are left out, and so is what an address of an
 * extended public key received before its payment. The blocks must be there already. More addresses are watched than a
 * restore lost, so one of these may belong to a payment by now.
 */
export const insertMovements = async (
  tx: Queryable,
  caip2: string,
  blocks: readonly PlacedMovements[],
): Promise<WrittenMovements> => {
  const movements = blocks.flatMap(block => block.movements.map(movement => ({ movement, block })));
  if (movements.length === 0) return { written: 0, unclaimed: [] };
  const values = [caip2, ...placed.values(movements)];
  const rows = await tx.query<Row & WrittenMovements>(insertMovementsStatement, values);
  return rows[0]!;
};

const paymentsInBlocksStatement = {
  name: 'transfers-payments-in-blocks',
  text: `select t.account_id as "accountId", t.environment, t.payment_id as id,
      exists (select from forwards f where f.account_id = t.account_id and f.environment = t.environment
          and f.payment_id = t.payment_id and f.caip2 = $1)
        or exists (select from ledger_corrections c where c.account_id = t.account_id and c.environment = t.environment
          and c.payment_id = t.payment_id and c.caip2 = $1) as "isSettled"
    from (
      select distinct account_id, environment, payment_id from transfers
      where caip2 = $1 and block_number between $2 and $3 and block_hash = any($4::text[])
    ) t`,
};
/** `isSettled`: funds on the chain were forwarded or corrected, so that holdings do not follow from transfers alone. */
export type TouchedPayment = PaymentKey & { readonly isSettled: boolean };

/** The payments with transfers in these blocks. */
export const paymentsInBlocks = (
  tx: Queryable,
  caip2: string,
  blocks: readonly { readonly number: number; readonly hash: string }[],
): Promise<TouchedPayment[]> => {
  const numbers = blocks.map(block => block.number);
  return tx.query<Row & TouchedPayment>(paymentsInBlocksStatement, [
    caip2,
    Math.min(...numbers),
    Math.max(...numbers),
    blocks.map(block => block.hash),
  ]);
};

/** A transfer as JSON from the database: amounts are text, times are milliseconds. */
export type StoredTransfer = {
  readonly caip2: string;
  readonly key: string;
  readonly stray: boolean;
  readonly contract: string | null;
  readonly txHash: string | null;
  readonly sender: string | null;
  readonly amount: string;
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly blockTimeMs: number;
  readonly canonical: boolean;
  readonly verified: boolean;
  readonly settled: boolean;
  readonly told: boolean;
  readonly firstSeenMs: number;
};

const transferJson = `json_build_object('caip2', t.caip2, 'key', t.key, 'stray', t.stray, 'contract', t.contract,
  'txHash', t.tx_hash, 'sender', t.sender, 'amount', t.amount::text, 'blockHash', t.block_hash,
  'blockNumber', t.block_number, 'blockTimeMs', (extract(epoch from b.timestamp) * 1000)::bigint,
  'canonical', t.canonical and not t.superseded, 'verified', t.verified, 'settled', t.settled, 'told', t.told,
  'firstSeenMs', (extract(epoch from t.first_seen_at) * 1000)::bigint)`;

/** The canonical transfers of a payment, and the heights of its chain; null where nothing ever came. */
export type FundsRow = { readonly transfers: readonly StoredTransfer[] | null; readonly heights: Heights | null };

/** How many transfers a payment shows, the largest ones: anybody can send dust, which must not hide the others. */
export const shownTransfers = 100;

/** The transfers of a payment that are shown. Reads only these, however many others there are. */
export const shownText = (payment: string, stray: boolean): string =>
  `select * from transfers where (account_id, environment, payment_id) = (${payment}) and stray = ${stray} and canonical and not superseded
    order by amount desc, key limit ${shownTransfers}`;

/** For the alias p. Dust is received without being detected; what was detected may be gone. */
export const hasFunds = '(p.detected or p.amount_received > 0)';

/** For the alias p. Payments without transfers cost nothing more. */
export const fundsColumns = `case when ${hasFunds} or p.strayed then (
    select json_agg(${transferJson} order by t.block_number, t.key) from (
      (${shownText('p.account_id, p.environment, p.id', false)}) union all
      (${shownText('p.account_id, p.environment, p.id', true)})
    ) t join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
  ) end as transfers,
  case when ${hasFunds} then (
    select json_build_object('latest', c.latest_number, 'safe', c.safe_number, 'finalized', c.finalized_number,
      'agreed', c.agreed_number)
    from chains c where c.caip2 = p.caip2
  ) end as heights`;

/** A stray that is both shown and unreported comes twice in a row. `union` would remove it, but sorts all strays. */
const isNotRepeated = ({ caip2, key }: StoredTransfer, at: number, all: readonly StoredTransfer[]): boolean =>
  key !== all[at - 1]?.key || caip2 !== all[at - 1]?.caip2;

const readTransfersStatement = {
  name: 'transfers-read',
  text: `select t.payment_id as id, json_agg(${transferJson} order by t.block_number, t.key) as transfers
    from ${paymentKeys.rows('k')}
      cross join lateral (
        (select * from transfers where (account_id, environment, payment_id) = (k.account_id, k.environment, k.id)
          and not stray and (canonical and not superseded or settled))
        union all
        (${shownText('k.account_id, k.environment, k.id', true)})
        union all
        (select * from transfers where (account_id, environment, payment_id) = (k.account_id, k.environment, k.id)
          and stray and canonical and not told order by block_number, key limit $4)
      ) t join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
    group by t.payment_id`,
};
/**
 * All transfers that count for these payments, by payment. Anybody can send any number of strays, so only those that
 * are shown and the first `untold` unreported ones are read.
 */
export const readTransfers = async (
  db: Queryable,
  keys: readonly PaymentKey[],
  untold: number,
): Promise<ReadonlyMap<string, readonly StoredTransfer[]>> => {
  const rows = await db.query<Row & { id: string; transfers: StoredTransfer[] }>(readTransfersStatement, [
    ...paymentKeys.values(keys),
    untold,
  ]);
  return new Map(rows.map(row => [row.id, row.transfers.filter(isNotRepeated)]));
};

export type TransferMark = {
  readonly caip2: string;
  readonly key: string;
  readonly settled: boolean;
  readonly told: boolean;
};

const marked = columns<TransferMark>({
  caip2: ['text', m => m.caip2],
  key: ['text', m => m.key],
  settled: ['boolean', m => m.settled],
  told: ['boolean', m => m.told],
});
const markTransfersStatement = {
  name: 'transfers-mark',
  text: `update transfers t set settled = m.settled, told = m.told
    from ${marked.rows('m')}
    where t.caip2 = m.caip2 and t.key = m.key`,
};
/** Stores which transfers are settled and which were reported. */
export const markTransfers = async (tx: Queryable, marks: readonly TransferMark[]): Promise<void> => {
  if (marks.length === 0) return;
  await tx.query(markTransfersStatement, marked.values(marks));
};

/** A canonical block with the keys of its unverified transfers and forwards. */
export type UnverifiedBlock = { readonly number: number; readonly hash: string; readonly keys: readonly string[] };

const unverifiedBlocksStatement = {
  name: 'transfers-unverified-blocks',
  text: `select block_number::float8 as number, block_hash as hash, array_agg(key) as keys from (
      select block_number, block_hash, key from transfers
        where caip2 = $1 and canonical and not verified and block_number > $2
      union all
      select block_number, block_hash, key from forwards
        where caip2 = $1 and canonical and not verified and block_number > $2
    ) u group by block_number, block_hash order by block_number limit $3`,
};
/** Blocks above a height with unverified transfers or forwards, lowest first. */
export const unverifiedBlocks = (
  db: Queryable,
  caip2: string,
  after: number,
  limit: number,
): Promise<UnverifiedBlock[]> => db.query<Row & UnverifiedBlock>(unverifiedBlocksStatement, [caip2, after, limit]);

const verifyTransfersStatement = {
  name: 'transfers-verify',
  text: `update transfers set verified = true where caip2 = $1 and key = any($2::text[]) and not verified`,
};
export const verifyTransfers = async (tx: Queryable, caip2: string, keys: readonly string[]): Promise<void> => {
  await tx.query(verifyTransfersStatement, [caip2, keys]);
};
