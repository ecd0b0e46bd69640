import type { Environment } from '../core/environment.ts';
import type { PaymentKey } from '../core/paymentKey.ts';
import type { Queryable, Row } from './database.ts';

export type Unexplained = {
  readonly key: PaymentKey;
  readonly contract: string | null;
  readonly amount: bigint;
  readonly blockNumber: number;
};

const insertStatement = {
  name: 'unexplained-insert',
  text: `with before as (
      select payment_id, contract, amount from unexplained_funds where caip2 = $1 and resolved_at is null
        and payment_id = any($4::text[])
    ), written as (
      insert into unexplained_funds as old (caip2, account_id, environment, payment_id, contract, amount, block_number)
      select $1, u.* from unnest($2::text[], $3::environment[], $4::text[], $5::text[], $6::numeric[], $7::bigint[]) as u
      on conflict (payment_id, caip2, coalesce(contract, '')) where resolved_at is null
        do update set amount = excluded.amount, block_number = excluded.block_number, checked_at = clock_timestamp()
      returning old.payment_id, old.contract, old.amount
    )
    select w.payment_id as id from written w
    where not exists (select from before b where b.payment_id = w.payment_id
      and b.contract is not distinct from w.contract and b.amount = w.amount)`,
};
/** Writes what addresses hold beyond their records. Returns the payments for which that is new. */
export const writeUnexplained = async (
  db: Queryable,
  caip2: string,
  funds: readonly Unexplained[],
): Promise<readonly string[]> => {
  if (funds.length === 0) return [];
  const column = <T>(pick: (item: Unexplained) => T): T[] => funds.map(pick);
  const rows = await db.query<Row & { id: string }>(insertStatement, [
    caip2,
    column(f => f.key.accountId),
    column(f => f.key.environment),
    column(f => f.key.id),
    column(f => f.contract),
    column(f => f.amount.toString()),
    column(f => f.blockNumber),
  ]);
  return rows.map(({ id }) => id);
};

export type UnexplainedRow = Row & {
  accountId: string;
  environment: Environment;
  paymentId: string;
  caip2: string;
  contract: string | null;
  address: string;
  /** Base units, as text. */
  amount: string;
  blockNumber: number;
  seenAt: Date;
  checkedAt: Date;
};

const listStatement = {
  name: 'unexplained-list',
  text: `select u.account_id as "accountId", u.environment, u.payment_id as "paymentId", u.caip2, u.contract, p.address,
      u.amount, u.block_number::float8 as "blockNumber", u.seen_at as "seenAt", u.checked_at as "checkedAt"
    from unexplained_funds u join payments p on p.account_id = u.account_id and p.environment = u.environment
      and p.id = u.payment_id
    where u.resolved_at is null order by u.id limit $1`,
};
/** Funds that no recorded transfer explains, oldest first. */
export const listUnexplained = (db: Queryable, limit: number): Promise<UnexplainedRow[]> =>
  db.query<UnexplainedRow>(listStatement, [limit]);
