import type { Queryable, Row } from './database.ts';

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

const oldestOpenStatement = {
  name: 'contracts-oldest-open',
  text: `select min(created_at) as at from payments
    where caip2 = $1 and contract = any($2::text[]) and wake_at is not null`,
};
/** When the oldest payment was created that still waits for funds in one of these tokens; null if none does. */
export const oldestOpenPayment = async (
  tx: Queryable,
  caip2: string,
  contracts: readonly string[],
): Promise<Date | null> =>
  (await tx.query<Row & { at: Date | null }>(oldestOpenStatement, [caip2, contracts]))[0]?.at ?? null;
