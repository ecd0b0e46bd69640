import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { type PaymentRow, paymentColumns } from '../payments/payments.ts';

export type NewSweep = Scope & {
  readonly id: string;
  readonly network: string;
  readonly caip2: string;
  readonly currency: string;
  readonly contract: string | null;
  readonly decimals: number;
  readonly txHash: string;
  readonly amount: bigint;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly paymentIds: readonly string[];
};

const insertStatement = {
  name: 'sweep-insert',
  text: `with written as (
      insert into sweeps (account_id, environment, id, network, caip2, currency, contract, decimals, tx_hash, amount,
        created_by, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      on conflict (account_id, environment, caip2, tx_hash) do nothing returning account_id, environment, id
    ), listed as (
      insert into sweep_payments (account_id, environment, sweep_id, payment_id)
      select w.account_id, w.environment, w.id, p.id from written w cross join unnest($13::text[]) as p(id)
    )
    select id from written`,
};
/** False if a sweep with this transaction is on record already. */
export const insertSweep = async (tx: Queryable, sweep: NewSweep): Promise<boolean> => {
  const { accountId, environment, id, network, caip2, currency, contract, decimals, txHash, amount } = sweep;
  const rows = await tx.query(insertStatement, [
    accountId,
    environment,
    id,
    network,
    caip2,
    currency,
    contract,
    decimals,
    txHash,
    amount.toString(),
    sweep.createdBy,
    sweep.createdAt,
    sweep.paymentIds,
  ]);
  return rows.length > 0;
};

const paymentsStatement = {
  name: 'sweep-payments-read',
  text: `select ${paymentColumns} from payments p where p.account_id = $1 and p.environment = $2 and p.id = any($3::text[])`,
};
export const readSweptPayments = (db: Queryable, scope: Scope, ids: readonly string[]): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(paymentsStatement, [scope.accountId, scope.environment, ids]);

export type StoredSweep = {
  readonly id: string;
  readonly network: string;
  readonly currency: string;
  readonly decimals: number;
  readonly txHash: string;
  readonly payments: number;
  /** What its payments held when it was sent. */
  readonly amount: string;
  /** What its transaction forwarded in canonical blocks; null if nothing yet. */
  readonly forwarded: string | null;
  readonly landedAt: Date | null;
  /** Whether any of its payments still holds funds. */
  readonly isOpen: boolean;
  readonly createdAt: Date;
  readonly by: string | null;
};

const columns = `s.id, s.network, s.currency, s.decimals, s.tx_hash as "txHash", s.amount, s.created_at as "createdAt",
  person.name as by, listed.payments, done.forwarded, done.at as "landedAt", listed.is_open as "isOpen"`;
// The outcome of a sweep is stored only as the forwards of its transaction, so that a reorg undoes it.
const derived = `cross join lateral (
      select count(*)::int as payments, bool_or(
        case when p.caip2 = s.caip2 and p.contract is not distinct from s.contract
          then p.amount_confirmed > p.amount_forwarded
          else (
            select sum(t.amount) from transfers t where t.account_id = p.account_id and t.environment = p.environment
              and t.payment_id = p.id and t.caip2 = s.caip2 and t.contract is not distinct from s.contract
              and t.stray and t.canonical and not t.superseded and t.verified
          ) > (
            select coalesce(sum(f.amount), 0) from forwards f where f.account_id = p.account_id
              and f.environment = p.environment and f.payment_id = p.id and f.caip2 = s.caip2
              and f.contract is not distinct from s.contract and f.canonical and f.verified
          ) end
        ) is true as is_open
      from sweep_payments i join payments p on p.account_id = i.account_id and p.environment = i.environment
        and p.id = i.payment_id
      where i.account_id = s.account_id and i.environment = s.environment and i.sweep_id = s.id
    ) listed
    cross join lateral (
      select sum(f.amount)::text as forwarded, min(b.timestamp) as at
      from forwards f join sweep_payments i on i.account_id = f.account_id and i.environment = f.environment
          and i.sweep_id = s.id and i.payment_id = f.payment_id
        join blocks b on b.caip2 = f.caip2 and b.hash = f.block_hash
      where f.tx_hash = s.tx_hash and f.caip2 = s.caip2 and f.canonical and f.verified
        and f.account_id = s.account_id and f.environment = s.environment and f.contract is not distinct from s.contract
    ) done
    left join people person on person.id = s.created_by`;
const owned = 's.account_id = $1 and s.environment = $2';

const listStatement = {
  name: 'sweep-list',
  text: `select ${columns} from (
      select * from sweeps s where ${owned} order by s.id desc limit $3
    ) s ${derived} order by s.id desc`,
};
/** Newest first. */
export const listSweeps = (db: Queryable, scope: Scope, limit: number): Promise<StoredSweep[]> =>
  db.query<Row & StoredSweep>(listStatement, [scope.accountId, scope.environment, limit]);

const findStatement = {
  name: 'sweep-find',
  text: `select ${columns} from sweeps s ${derived} where ${owned} and s.caip2 = $3 and s.tx_hash = $4`,
};
export const findSweep = async (
  db: Queryable,
  scope: Scope,
  caip2: string,
  txHash: string,
): Promise<StoredSweep | null> =>
  (await db.query<Row & StoredSweep>(findStatement, [scope.accountId, scope.environment, caip2, txHash]))[0] ?? null;
