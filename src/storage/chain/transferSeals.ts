import type { Queryable, Row } from '../database.ts';
import { isSealedAs, type LargeTable, msText, type RowSealer } from '../largeSeals.ts';
import type { PlacedInBlock } from './blockSeals.ts';

const table = 'transfers';

/** What the seal of a transfer covers. A transfer is bound to its payment by the payment's address. */
export type TransferFacts = {
  readonly caip2: string;
  readonly key: string;
  readonly address: string;
  readonly contract: string | null;
  readonly txHash: string | null;
  readonly sender: string | null;
  /** Base units, as text. */
  readonly amount: string;
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly blockTimeMs: number;
  readonly verified: boolean;
  readonly superseded: boolean;
  readonly firstSeenMs: number;
};

const valuesOf = (facts: TransferFacts): (string | null)[] => [
  facts.caip2,
  facts.key,
  facts.address,
  facts.contract,
  facts.txHash,
  facts.sender,
  facts.amount,
  facts.blockHash,
  String(facts.blockNumber),
  String(facts.blockTimeMs),
  String(facts.verified),
  String(facts.superseded),
  String(facts.firstSeenMs),
];

export const transferSeals: LargeTable = {
  table,
  key: ['caip2', 'key'],
  values: [
    't.caip2',
    't.key',
    `(select p.address from payments p
      where p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id)`,
    't.contract',
    't.tx_hash',
    't.sender',
    't.amount::text',
    't.block_hash',
    't.block_number::text',
    `(select ${msText('b.timestamp')} from blocks b where b.caip2 = t.caip2 and b.hash = t.block_hash)`,
    't.verified::text',
    't.superseded::text',
    msText('t.first_seen_at'),
  ],
  covered: [
    ...['caip2', 'key', 'account_id', 'environment', 'payment_id', 'contract', 'tx_hash', 'sender', 'amount'],
    ...['block_hash', 'block_number', 'verified', 'superseded', 'first_seen_at'],
  ],
  open: {
    stray: 'follows from the chain and token of the payment, and is compared with them',
    canonical: 'is compared with the block of the transfer',
    settled: 'says only what was decided before',
    told: 'says only whether a stray was reported',
  },
};

export const sealTransfer = (sealer: RowSealer, facts: TransferFacts): Buffer => sealer.rowSeal(table, valuesOf(facts));

/** A transfer as JSON from the database: amounts are text, times are milliseconds. */
export type StoredTransfer = Omit<TransferFacts, 'address'> & {
  readonly stray: boolean;
  readonly canonical: boolean;
  readonly settled: boolean;
  readonly told: boolean;
  /** Whether it is canonical exactly if its block is. */
  readonly isAsBlock: boolean;
  readonly seal: string | null;
  /** Only of transfers that are shown: whether a reorganization took its block, and no node has shown it since. */
  readonly isLost?: boolean;
};

/** For the aliases t and b, its block. */
const transferFields = `'caip2', t.caip2, 'key', t.key, 'stray', t.stray, 'contract', t.contract,
  'txHash', t.tx_hash, 'sender', t.sender, 'amount', t.amount::text, 'blockHash', t.block_hash,
  'blockNumber', t.block_number, 'blockTimeMs', (extract(epoch from b.timestamp) * 1000)::bigint,
  'canonical', t.canonical and not t.superseded, 'verified', t.verified, 'settled', t.settled, 'told', t.told,
  'firstSeenMs', (extract(epoch from t.first_seen_at) * 1000)::bigint, 'superseded', t.superseded,
  'isAsBlock', t.canonical = b.canonical, 'seal', encode(t.row_seal, 'hex')`;
export const transferJson = `json_build_object(${transferFields})`;

/** So many reorganizations and starts after a block, none takes it any more. */
const branchesAfter = 32;
/**
 * For the aliases t and b, its block. What is decided rests on the seals of all branches. Strays are only shown. The first
 * branch alone has orphans, and it is after blocks without a branch only.
 */
export const shownJson = `json_build_object(${transferFields}, 'isLost', not t.stray and exists (
    select from (
      select above, orphans from chain_branches where caip2 = t.caip2 and number > coalesce(b.branch, 0)
      order by number limit ${branchesAfter}
    ) g where t.block_number > g.above or (b.branch is null and t.block_hash = any(g.orphans))
  ))`;

/** A transfer with what the seal of its block covers. */
export type PlacedTransfer = StoredTransfer & PlacedInBlock;
/** For the aliases t and b, its block. */
export const placedJson = `json_build_object(${transferFields}, 'parentHash', b.parent_hash, 'branch', b.branch,
  'blockSeal', encode(b.row_seal, 'hex'))`;

/** Whether Florin wrote the transfer as it is, for a payment with this address. */
export const isTransferGenuine = (sealer: RowSealer, transfer: StoredTransfer, address: string): boolean =>
  transfer.isAsBlock && isSealedAs(sealer, table, valuesOf({ ...transfer, address }), transfer.seal);

type AddressedTransfer = Row & { readonly transfer: StoredTransfer; readonly address: string };

const addressed = `select ${transferJson} as transfer, p.address from transfers t
    join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
    join payments p on p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id`;

const isGenuine = (sealer: RowSealer, { transfer, address }: AddressedTransfer): boolean =>
  isTransferGenuine(sealer, transfer, address);

const sightedStatement = {
  name: 'transfers-sighted',
  text: `${addressed} where t.caip2 = $1 and t.tx_hash = any($2::text[])`,
};
/** When each of these transactions was first seen to pay an address, by `hash address`. */
export const firstSightings = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  txHashes: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await tx.query<AddressedTransfer>(sightedStatement, [caip2, txHashes]);
  const found = new Map<string, number>();
  for (const row of rows.filter(each => isGenuine(sealer, each))) {
    const { txHash, firstSeenMs } = row.transfer;
    const at = `${txHash} ${row.address}`;
    found.set(at, Math.min(firstSeenMs, found.get(at) ?? firstSeenMs));
  }
  return found;
};

/** Changes transfers and their seals. Returns the keys of those that do not match their seals, which stay as they are. */
const reseal = async (
  tx: Queryable,
  sealer: RowSealer,
  rows: readonly AddressedTransfer[],
  change: Partial<Pick<TransferFacts, 'verified' | 'superseded'>>,
): Promise<{ readonly changed: number; readonly forged: readonly string[] }> => {
  const genuine = rows.filter(row => isGenuine(sealer, row));
  const forged = rows.filter(row => !genuine.includes(row)).map(({ transfer }) => transfer.key);
  if (genuine.length === 0) return { changed: 0, forged };
  const changed = genuine.map(({ transfer, address }) => ({ ...transfer, address, ...change }));
  await tx.query(resealStatement, [
    changed[0]!.caip2,
    changed.map(({ key }) => key),
    changed.map(({ verified }) => verified),
    changed.map(({ superseded }) => superseded),
    changed.map(facts => sealTransfer(sealer, facts)),
  ]);
  return { changed: changed.length, forged };
};
const resealStatement = {
  name: 'transfers-reseal',
  text: `update transfers t set verified = s.verified, superseded = s.superseded, row_seal = s.seal
    from unnest($2::text[], $3::boolean[], $4::boolean[], $5::bytea[]) as s(key, verified, superseded, seal)
    where t.caip2 = $1 and t.key = s.key`,
};

const unverifiedStatement = {
  name: 'transfers-unverified',
  text: `${addressed} where t.caip2 = $1 and t.key = any($2::text[]) and not t.verified for no key update of t`,
};
/** Marks transfers as verified. Returns the keys of those that were changed in the database, which stay unverified. */
export const verifyTransfers = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  keys: readonly string[],
): Promise<readonly string[]> => {
  if (keys.length === 0) return [];
  const rows = await tx.query<AddressedTransfer>(unverifiedStatement, [caip2, keys]);
  return (await reseal(tx, sealer, rows, { verified: true })).forged;
};

const goneCoinsStatement = {
  name: 'transfers-gone-coins',
  text: `${addressed} where t.caip2 = $1 and t.block_number > $2 and t.tx_hash is null and not t.canonical
      and not t.superseded for no key update of t`,
};
/** Coin that was found by balance may arrive again in another block, and must then count once. */
export const supersedeCoins = async (tx: Queryable, sealer: RowSealer, caip2: string, above: number): Promise<void> => {
  const rows = await tx.query<AddressedTransfer>(goneCoinsStatement, [caip2, above]);
  await reseal(tx, sealer, rows, { superseded: true });
};

const supersededStatement = {
  name: 'transfers-superseded',
  text: `${addressed} where t.caip2 = $1 and t.key = any($2::text[]) and t.superseded for no key update of t`,
};
/** Coin that was found in the same block again. */
export const reviveCoins = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  keys: readonly string[],
): Promise<{ readonly changed: number; readonly forged: readonly string[] }> => {
  if (keys.length === 0) return { changed: 0, forged: [] };
  const rows = await tx.query<AddressedTransfer>(supersededStatement, [caip2, keys]);
  return reseal(tx, sealer, rows, { superseded: false });
};
