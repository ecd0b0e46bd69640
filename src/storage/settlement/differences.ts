import type { Environment, Scope } from '../../core/environment.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { holdChain } from '../chain/chains.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { toSeal } from '../seals.ts';

/** What an address holds minus what the records say: positive for funds that no transfer explains. */
export type Difference = {
  readonly key: PaymentKey;
  readonly contract: string | null;
  readonly amount: bigint;
  /** What the records say up to the block. */
  readonly recorded: bigint;
  readonly blockNumber: number;
};

const found = columns<Difference>(
  {
    account_id: ['text', d => d.key.accountId],
    environment: ['environment', d => d.key.environment],
    payment_id: ['text', d => d.key.id],
    contract: ['text', d => d.contract],
    amount: ['numeric', d => d.amount.toString()],
    recorded: ['numeric', d => d.recorded.toString()],
    block_number: ['bigint', d => d.blockNumber],
  },
  { first: 2 },
);
const insertStatement = {
  name: 'differences-insert',
  text: `with before as (
      select payment_id, contract, amount from differences where caip2 = $1 and resolved_at is null
        and payment_id = any(${found.array('payment_id')})
    ), written as (
      insert into differences as old (caip2, ${found.names})
      select $1, u.* from ${found.rows('u')}
      on conflict (payment_id, caip2, coalesce(contract, '')) where resolved_at is null
        do update set amount = excluded.amount, recorded = excluded.recorded, block_number = excluded.block_number, checked_at = clock_timestamp()
      returning old.payment_id, old.contract, old.amount
    )
    select w.payment_id as id from written w
    where not exists (select from before b where b.payment_id = w.payment_id
      and b.contract is not distinct from w.contract and b.amount = w.amount)`,
};
/** Writes differences between addresses and their records. Returns the payments for which that is new. */
export const writeDifferences = async (
  db: Queryable,
  caip2: string,
  differences: readonly Difference[],
): Promise<readonly string[]> => {
  if (differences.length === 0) return [];
  const values = [caip2, ...found.values(differences)];
  const rows = await db.query<Row & { id: string }>(insertStatement, values);
  return rows.map(({ id }) => id);
};

const explainedStatement = {
  name: 'differences-explained',
  text: `update differences u set resolved_at = clock_timestamp()
    where u.caip2 = $1 and u.payment_id = any($2::text[]) and u.resolved_at is null and u.recorded + u.amount = coalesce((
      select r.held from forwarder_records(u.account_id, u.environment, u.payment_id, u.block_number) r
      where r.caip2 = u.caip2 and r.contract = coalesce(u.contract, '')), 0)`,
};
/** Resolves the differences of payments that their records explain by now: nothing else compares extended public keys. */
export const resolveExplained = async (
  tx: Queryable,
  caip2: string,
  payments: readonly { readonly id: string }[],
): Promise<void> => {
  if (payments.length === 0) return;
  await tx.query(explainedStatement, [caip2, payments.map(({ id }) => id)]);
};

export type DifferenceRow = Row & {
  id: string;
  accountId: string;
  environment: Environment;
  paymentId: string;
  caip2: string;
  contract: string | null;
  address: string;
  /** Base units, as text; negative if funds are missing. */
  amount: string;
  blockNumber: number;
  seenAt: Date;
  checkedAt: Date;
};

const differenceColumns = `u.id::text as id, u.account_id as "accountId", u.environment, u.payment_id as "paymentId", u.caip2, u.contract,
  p.address, u.amount::text as amount, u.block_number::float8 as "blockNumber", u.seen_at as "seenAt",
  u.checked_at as "checkedAt"`;
const withPayment = `differences u join payments p on p.account_id = u.account_id and p.environment = u.environment
  and p.id = u.payment_id`;

const listStatement = {
  name: 'differences-list',
  text: `select ${differenceColumns} from ${withPayment} where u.resolved_at is null order by u.id limit $1`,
};
/** Open differences of all accounts, oldest first. */
export const listDifferences = (db: Queryable, limit: number): Promise<DifferenceRow[]> =>
  db.query<DifferenceRow>(listStatement, [limit]);

const accountStatement = {
  name: 'differences-account',
  text: `select ${differenceColumns} from ${withPayment}
    where u.account_id = $1 and u.environment = $2 and u.resolved_at is null order by u.id limit $3`,
};
/** Open differences of one account, oldest first. */
export const accountDifferences = (db: Queryable, scope: Scope, limit: number): Promise<DifferenceRow[]> =>
  db.query<DifferenceRow>(accountStatement, [scope.accountId, scope.environment, limit]);

const chainStatement = {
  name: 'differences-chain',
  text: 'select caip2 from differences where id = $1 and resolved_at is null',
};
const lockStatement = {
  name: 'differences-lock',
  // What the records say now about that block.
  text: `select ${differenceColumns}, u.recorded = coalesce((
      select r.held from forwarder_records(u.account_id, u.environment, u.payment_id, u.block_number) r
      where r.caip2 = u.caip2 and r.contract = coalesce(u.contract, '')), 0) as "isCurrent" from ${withPayment} where u.id = $1 and u.resolved_at is null for no key update of u`,
};
/**
 * Locks the chain and then the difference, as the reader of the chain does. Null if it is not open; `isCurrent` unless the
 * records have changed since.
 */
export const lockDifference = async (
  tx: Queryable,
  id: string,
): Promise<(DifferenceRow & { isCurrent: boolean }) | null> => {
  const [open] = await tx.query<{ caip2: string }>(chainStatement, [id]);
  if (!open) return null;
  await holdChain(tx, open.caip2);
  return (await tx.query<DifferenceRow & { isCurrent: boolean }>(lockStatement, [id]))[0] ?? null;
};

const correctStatement = {
  name: 'differences-correct',
  text: `with closed as (
      update differences set resolved_at = clock_timestamp() where id = $1
      returning id, account_id, environment, payment_id, caip2, contract, amount, block_number
    )
    insert into ledger_corrections as c (difference_id, account_id, environment, payment_id, caip2, contract, amount, block_number,
      corrected_by, reason)
    select closed.*, $2, $3 from closed returning 1 as corrected, ${toSeal('ledger_corrections', 'c')}`,
};
/** Closes a difference with an entry that makes the records say what the address holds. */
export const correctDifference = async (
  tx: Queryable,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> => {
  await tx.query(correctStatement, [id, by, reason]);
};
