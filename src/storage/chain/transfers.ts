import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { paymentKeys } from '../payments/paymentKeys.ts';
import { sealedJson } from '../seals.ts';
import { type PlacedTransfer, placedJson, type StoredTransfer, shownJson } from './transferSeals.ts';

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

/** What the row of a chain says, with its seal. */
export type SealedChain = readonly [table: 'chains', text: string, seal: string | null];

/** The canonical transfers of a payment, and the row of its chain; null where nothing ever came. */
export type FundsRow = { readonly transfers: readonly StoredTransfer[] | null; readonly chain: SealedChain | null };

/** How many transfers a payment shows, the largest ones: anybody can send dust, which must not hide the others. */
export const shownTransfers = 100;

/** The transfers of a payment that are shown. Reads only these, however many others there are. */
export const shownText = (payment: string, stray: boolean): string =>
  `select * from transfers where (account_id, environment, payment_id) = (${payment}) and stray = ${stray} and canonical and not superseded
    order by amount desc, key limit ${shownTransfers}`;

/** For the alias p. Dust is received without being detected; what was detected may be gone. */
export const hasFunds = '(p.detected or p.amount_received > 0)';

/** For the alias p. The transfers alone that its sum comes from: enough to show whether they explain it. */
export const creditsColumn = `case when p.amount_received > 0 then (
    select json_agg(${shownJson} order by t.block_number, t.key)
    from (${shownText('p.account_id, p.environment, p.id', false)}) t
      join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
  ) end as transfers`;

/** For the alias p. Payments without transfers cost nothing more. */
export const fundsColumns = `case when ${hasFunds} or p.strayed then (
    select json_agg(${shownJson} order by t.block_number, t.key) from (
      (${shownText('p.account_id, p.environment, p.id', false)}) union all
      (${shownText('p.account_id, p.environment, p.id', true)})
    ) t join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
  ) end as transfers,
  case when ${hasFunds} then (
    select ${sealedJson('chains', 'c')} from chains c where c.caip2 = p.caip2
  ) end as chain`;

/** A stray that is both shown and unreported comes twice in a row. `union` would remove it, but sorts all strays. */
const isNotRepeated = ({ caip2, key }: PlacedTransfer, at: number, all: readonly PlacedTransfer[]): boolean =>
  key !== all[at - 1]?.key || caip2 !== all[at - 1]?.caip2;

const readTransfersStatement = {
  name: 'transfers-read',
  text: `select t.payment_id as id, json_agg(${placedJson} order by t.block_number, t.key) as transfers
    from ${paymentKeys.rows('k')}
      cross join lateral (
        (select * from transfers where (account_id, environment, payment_id) = (k.account_id, k.environment, k.id)
          and not stray)
        union all
        (${shownText('k.account_id, k.environment, k.id', true)})
        union all
        (select * from transfers where (account_id, environment, payment_id) = (k.account_id, k.environment, k.id)
          and stray and canonical and not told order by block_number, key limit $4)
      ) t join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
    group by t.payment_id`,
};
/**
 * All transfers of these payments in their own token and network, also those that reorganizations took, by payment. Anybody can send any number of strays, so only those that
 * are shown and the first `untold` unreported ones are read.
 */
export const readTransfers = async (
  db: Queryable,
  keys: readonly PaymentKey[],
  untold: number,
): Promise<ReadonlyMap<string, readonly PlacedTransfer[]>> => {
  const rows = await db.query<Row & { id: string; transfers: PlacedTransfer[] }>(readTransfersStatement, [
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
