import type { Block, WatchedBlock } from '../core/chain.ts';
import type { Queryable, Row } from './database.ts';
import type { PaymentKey } from './payments.ts';

const storedBlockStatement = {
  name: 'block-at',
  text: `select number::float8 as number, hash, parent_hash as "parentHash",
      extract(epoch from timestamp)::float8 as timestamp
    from blocks where caip2 = $1 and number = $2 and canonical`,
};
/** The canonical block at a height; null when it is not kept. */
export const storedBlock = async (db: Queryable, caip2: string, number: number): Promise<Block | null> =>
  (await db.query<Row & Block>(storedBlockStatement, [caip2, number]))[0] ?? null;

const keptNearStatement = {
  name: 'blocks-kept-near',
  text: `select number::float8 as number from (
      (select number from blocks where caip2 = $1 and canonical and number <= $2 order by number desc limit 2)
      union all
      (select number from blocks where caip2 = $1 and canonical and number > $2 order by number limit 1)
    ) near order by number`,
};
/** The heights next to this one whose canonical block is kept; itself if it is. */
export const keptBlocksNear = async (db: Queryable, caip2: string, number: number): Promise<number[]> =>
  (await db.query<Row & { number: number }>(keptNearStatement, [caip2, number])).map(row => row.number);

const insertBlocksStatement = {
  name: 'blocks-insert',
  text: `insert into blocks as old (caip2, hash, number, parent_hash, timestamp, canonical, empty)
    select $1, b.hash, b.number, b.parent_hash, to_timestamp(b.timestamp), true, b.empty
    from unnest($2::text[], $3::bigint[], $4::text[], $5::float8[], $6::boolean[])
      as b(hash, number, parent_hash, timestamp, empty)
    on conflict (caip2, hash) do update set canonical = true, empty = old.empty and excluded.empty`,
};
/** Makes these blocks canonical; one that was so before a reorg becomes so again, with all that it holds. */
export const insertBlocks = async (tx: Queryable, caip2: string, blocks: readonly WatchedBlock[]): Promise<void> => {
  await tx.query(insertBlocksStatement, [
    caip2,
    blocks.map(block => block.hash),
    blocks.map(block => block.number),
    blocks.map(block => block.parentHash),
    blocks.map(block => block.timestamp),
    blocks.map(block => block.movements.length + block.forwards.length === 0),
  ]);
};

const orphanBlocksStatement = {
  name: 'blocks-orphan',
  text: `with gone as (
      update blocks set canonical = false where caip2 = $1 and number > $2 and canonical returning hash
    )
    select distinct t.account_id as "accountId", t.environment, t.payment_id as id
    from gone g join transfers t on t.caip2 = $1 and t.block_number > $2 and t.block_hash = g.hash`,
};
const supersedeStatement = {
  name: 'transfers-supersede',
  text: `update transfers set superseded = true
    where caip2 = $1 and block_number > $2 and tx_hash is null and not canonical and not superseded`,
};
/** Blocks above a height are no longer canonical, nor is anything in them. Answers the payments that this touches. */
export const orphanBlocks = async (tx: Queryable, caip2: string, above: number): Promise<PaymentKey[]> => {
  const touched = await tx.query<PaymentKey>(orphanBlocksStatement, [caip2, above]);
  await tx.query(supersedeStatement, [caip2, above]);
  return touched;
};

const fillBlocksStatement = {
  name: 'blocks-fill',
  text: `update blocks set empty = false where caip2 = $1 and hash = any($2::text[]) and empty`,
};
/** Something was found in these blocks after all. */
export const fillBlocks = async (tx: Queryable, caip2: string, hashes: readonly string[]): Promise<void> => {
  await tx.query(fillBlocksStatement, [caip2, hashes]);
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
/** Forgets empty blocks further below the newest than so many, up to `limit` of each chain. Answers how many. */
export const pruneBlocks = async (db: Queryable, keep: number, limit: number): Promise<number> =>
  (await db.query(pruneBlocksStatement, [keep, limit])).length;
