import type { Queryable, Row } from '../database.ts';

const recordedStatement = {
  name: 'surplus-recorded-heights',
  text: `select distinct block_number::float8 as number from transfers
    where caip2 = $1 and block_number = any($2::bigint[]) and contract = $3 and payment_id = any($4::text[])
      and canonical and not superseded`,
};
/** Those heights at which a transfer of the token to one of the payments is on record. */
export const recordedHeights = async (
  db: Queryable,
  caip2: string,
  heights: readonly number[],
  { token, paymentIds }: { readonly token: string; readonly paymentIds: readonly string[] },
): Promise<ReadonlySet<number>> => {
  if (heights.length === 0) return new Set();
  const rows = await db.query<Row & { number: number }>(recordedStatement, [caip2, heights, token, paymentIds]);
  return new Set(rows.map(({ number }) => number));
};

// A finished rescan counts for a week: a node that had lost something may have it again.
const rescannedStatement = {
  name: 'surplus-rescanned',
  text: `select coalesce(bool_or(finished_at is null and address is not distinct from $2), false) as "isOpen",
      (max(to_number) filter (where from_number <= $3))::float8 as "readTo"
    from rescans where caip2 = $1 and (address is not distinct from $2 or address is null)
      and (finished_at is null or finished_at > clock_timestamp() - interval '7 days')`,
};
/**
 * What rescans of an address, or of all if it is null, cover of the blocks from a height on: whether one of that address
 * is open, and up to which block any of them reads or has read lately.
 */
export const rescannedFrom = async (
  db: Queryable,
  caip2: string,
  address: string | null,
  from: number,
): Promise<{ readonly isOpen: boolean; readonly readTo: number | null }> =>
  (await db.query<Row & { isOpen: boolean; readTo: number | null }>(rescannedStatement, [caip2, address, from]))[0]!;
