import type { WatchedBlock } from '../../core/chain.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { assertBlockSealed, type StoredBlock, sealBlock } from './blockSeals.ts';
import { supersedeCoins } from './transferSeals.ts';

type SealedBlock = Row & StoredBlock & { seal: string | null };

const blockColumns = `b.number::float8 as number, b.hash, b.parent_hash as "parentHash",
      extract(epoch from b.timestamp)::float8 as timestamp, b.branch::float8 as branch, encode(b.row_seal, 'hex') as seal`;

const checked = (sealer: RowSealer, caip2: string, { seal, ...block }: SealedBlock): StoredBlock => {
  assertBlockSealed(sealer, caip2, block, seal);
  return block;
};

const storedBlockStatement = {
  name: 'block-at',
  text: `select ${blockColumns} from blocks b where b.caip2 = $1 and b.number = $2 and b.canonical`,
};
/** The canonical block at a height; null when it is not stored. Throws if it was changed in the database. */
export const storedBlock = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  number: number,
): Promise<StoredBlock | null> => {
  const [row] = await db.query<SealedBlock>(storedBlockStatement, [caip2, number]);
  return row ? checked(sealer, caip2, row) : null;
};

const storedHashesStatement = {
  name: 'block-hashes-at',
  text: `select ${blockColumns}, b.canonical from blocks b
    where b.caip2 = $1 and (b.number = any($2::bigint[]) and b.canonical or b.hash = any($3::text[]))`,
};
export type StoredHashes = {
  /** Of the canonical blocks, by height. */
  readonly canonical: ReadonlyMap<number, string>;
  readonly all: ReadonlySet<string>;
};
/**
 * The hashes of the canonical blocks at the heights of these, and those of these that are stored. Throws if one was changed
 * in the database.
 */
export const storedHashes = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  blocks: readonly Pick<StoredBlock, 'number' | 'hash'>[],
): Promise<StoredHashes> => {
  const values = [caip2, blocks.map(({ number }) => number), blocks.map(({ hash }) => hash)];
  const rows = await db.query<SealedBlock & { canonical: boolean }>(storedHashesStatement, values);
  for (const { canonical: _, ...row } of rows) checked(sealer, caip2, row as SealedBlock);
  return {
    canonical: new Map(rows.flatMap(({ number, hash, canonical }) => (canonical ? [[number, hash]] : []))),
    all: new Set(rows.map(({ hash }) => hash)),
  };
};

const keptNearStatement = {
  name: 'blocks-kept-near',
  text: `select number::float8 as number from (
      (select number from blocks where caip2 = $1 and canonical and number <= $2 order by number desc limit 2)
      union all
      (select number from blocks where caip2 = $1 and canonical and number > $2 order by number limit 1)
    ) near order by number`,
};
/**
 * Heights of stored canonical blocks around a height: up to two at or below it, and one above. Only suggestions: a rollback
 * checks its block.
 */
export const keptBlocksNear = async (db: Queryable, caip2: string, number: number): Promise<number[]> =>
  (await db.query<Row & { number: number }>(keptNearStatement, [caip2, number])).map(row => row.number);

/** The first parameter is the chain. */
const watched = columns<{ readonly block: WatchedBlock; readonly seal: Buffer }>(
  {
    hash: ['text', ({ block }) => block.hash],
    number: ['bigint', ({ block }) => block.number],
    parent_hash: ['text', ({ block }) => block.parentHash],
    timestamp: ['float8', ({ block }) => block.timestamp],
    empty: ['boolean', ({ block }) => block.movements.length + block.forwards.length === 0],
    row_seal: ['bytea', ({ seal }) => seal],
  },
  { first: 2 },
);
const [branchAt, isShownAt] = [watched.next, watched.next + 1];
// A row that is there keeps its content: one that was changed must not become right.
const insertBlocksStatement = {
  name: 'blocks-insert',
  text: `insert into blocks as old (caip2, hash, number, parent_hash, timestamp, canonical, empty, branch, row_seal)
    select $1, b.hash, b.number, b.parent_hash, to_timestamp(b.timestamp), true, b.empty, $${branchAt}, b.row_seal
    from ${watched.rows('b')}
    on conflict (caip2, hash) do update set canonical = true, empty = old.empty and excluded.empty,
      branch = case when $${isShownAt} then excluded.branch else old.branch end,
      row_seal = case when $${isShownAt} then excluded.row_seal else old.row_seal end`,
};
/** `isShown`: nodes showed these blocks as the newest of the chain. Otherwise those that are there keep their branch. */
type ShownIn = { readonly caip2: string; readonly branch: number | null; readonly isShown: boolean };
/** Makes these blocks canonical. A block that a reorg orphaned before becomes canonical again, with its transfers. */
export const insertBlocks = async (
  tx: Queryable,
  sealer: RowSealer,
  { caip2, branch, isShown }: ShownIn,
  blocks: readonly WatchedBlock[],
): Promise<void> => {
  const rows = blocks.map(block => ({ block, seal: sealBlock(sealer, caip2, { ...block, branch }) }));
  await tx.query(insertBlocksStatement, [caip2, ...watched.values(rows), branch, isShown]);
};

// Also payments whose blocks were orphaned before: somebody else may have done that.
const orphanBlocksStatement = {
  name: 'blocks-orphan',
  text: `with gone as (update blocks set canonical = false where caip2 = $1 and number > $2 and canonical)
    select distinct account_id as "accountId", environment, payment_id as id
    from transfers where caip2 = $1 and block_number > $2`,
};

/** Orphans the blocks above a height with everything in them. Returns the payments with transfers above it. */
export const orphanBlocks = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  above: number,
): Promise<PaymentKey[]> => {
  const touched = await tx.query<Row & PaymentKey>(orphanBlocksStatement, [caip2, above]);
  await supersedeCoins(tx, sealer, caip2, above);
  return touched;
};

const pruneBlocksStatement = {
  name: 'blocks-prune',
  text: `delete from blocks b using (
      select o.caip2, o.hash from chains c cross join lateral (
        select caip2, hash from blocks e where e.caip2 = c.caip2 and e.empty and e.number < c.latest_number - $1
        order by e.number limit $2
      ) o
    ) old where b.caip2 = old.caip2 and b.hash = old.hash returning 1 as gone`,
};
/** Deletes empty blocks more than `keep` below the newest, up to `limit` per chain. Returns how many. */
export const pruneBlocks = async (db: Queryable, keep: number, limit: number): Promise<number> =>
  (await db.query(pruneBlocksStatement, [keep, limit])).length;
