import type { Queryable, Row } from '../database.ts';

/** A contract that the watcher begins to read, and the last block that was read with it earlier; null if none was. */
export type NewContract = { readonly contract: string; readonly readTo: number | null };

const stopStatement = {
  name: 'contracts-stop',
  text: `update read_contracts r set read_to = coalesce(c.latest_number, 0) from chains c
    where r.caip2 = $1 and c.caip2 = $1 and r.read_to is null and r.contract <> all($2::text[])`,
};
const startStatement = {
  name: 'contracts-start',
  text: `with before as (
      select contract, read_to from read_contracts where caip2 = $1
    ), written as (
      insert into read_contracts (caip2, contract) select $1, unnest($2::text[])
      on conflict (caip2, contract) do update set read_to = null
    )
    select u.contract, b.read_to::float8 as "readTo" from unnest($2::text[]) as u(contract)
      left join before b on b.contract = u.contract
    where b.contract is null or b.read_to is not null`,
};
/** Publishes the contracts that the watcher reads from now on. Returns those that it did not read before. */
export const publishContracts = async (
  tx: Queryable,
  caip2: string,
  contracts: readonly string[],
): Promise<NewContract[]> => {
  await tx.query(stopStatement, [caip2, contracts]);
  return tx.query<Row & NewContract>(startStatement, [caip2, contracts]);
};

const unreadStatement = {
  name: 'contracts-unread',
  text: `select u.contract from unnest($2::text[]) as u(contract)
    where not exists (select from read_contracts r where r.caip2 = $1 and r.contract = u.contract)`,
};
/** Those contracts that no watcher of the chain has ever read. */
export const neverRead = async (db: Queryable, caip2: string, contracts: readonly string[]): Promise<string[]> =>
  (await db.query<Row & { contract: string }>(unreadStatement, [caip2, contracts])).map(({ contract }) => contract);

// A branch for each of the two partial indexes, which hold the open payments only.
const oldestOpenStatement = {
  name: 'contracts-oldest-open',
  text: `select min(created_at) as at from (
      (select created_at from payments where caip2 = $1 and contract is not null and wake_at is not null and awaits_read
        and contract = any($2::text[]))
      union all
      (select created_at from payments where caip2 = $1 and contract is not null and wake_at is not null
        and not awaits_read and contract = any($2::text[]))
    ) waiting`,
};
/** When the oldest payment was created that still waits for funds in one of these tokens; null if none does. */
export const oldestOpenPayment = async (
  db: Queryable,
  caip2: string,
  contracts: readonly string[],
): Promise<Date | null> =>
  (await db.query<Row & { at: Date | null }>(oldestOpenStatement, [caip2, contracts]))[0]?.at ?? null;
