import type { Scope } from '../core/environment.ts';
import type { Queryable, Row } from './database.ts';
import { type PaymentRow, paymentColumns } from './payments.ts';

const keys = 'unnest($1::text[], $2::environment[], $3::text[]) as k(account_id, environment, id)';

const forwardedStatement = {
  name: 'holdings-forwarded',
  text: `select p.account_id as "accountId", p.environment, p.id
    from (
        select distinct account_id, environment, payment_id from forwards
        where caip2 = $1 and block_number between $2 and $3
      ) f
      join payments p on p.account_id = f.account_id and p.environment = f.environment
        and p.id = f.payment_id and p.caip2 = $1
    order by p.account_id, p.environment, p.id for no key update of p`,
};

// A separate statement after the lock, to see what the previous holder of the lock wrote.
const settleStatement = {
  name: 'holdings-settle',
  text: `with changed as (
      select p.account_id, p.environment, p.id, p.currency, p.network, p.decimals, p.caip2, coalesce(p.contract, '') as contract,
        p.treasury, f.amount as forwarded,
        case when p.wallet_kind = 'forwarder' then greatest(p.amount_confirmed - p.amount_forwarded, 0) else 0 end as was,
        case when p.wallet_kind = 'forwarder' then greatest(p.amount_confirmed - f.amount, 0) else 0 end as held
      from ${keys} join payments p on p.account_id = k.account_id and p.environment = k.environment and p.id = k.id
        cross join lateral (
          select least(coalesce(sum(amount), 0), 1e54) as amount from forwards f
          where f.account_id = p.account_id and f.environment = p.environment and f.payment_id = p.id
            and f.caip2 = p.caip2 and f.contract is not distinct from p.contract and f.canonical and f.verified
        ) f
      where f.amount <> p.amount_forwarded
    ), settled as (
      update payments p set amount_forwarded = c.forwarded from changed c
      where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id
    )
    insert into holding_deltas (account_id, environment, network, caip2, currency, contract, decimals, treasury, count, amount)
    select account_id, environment, network, caip2, currency, contract, decimals, treasury,
      sum((held > 0)::int - (was > 0)::int), sum(held - was)
    from changed group by 1, 2, 3, 4, 5, 6, 7, 8
    having sum((held > 0)::int - (was > 0)::int) <> 0 or sum(held - was) <> 0`,
};
/**
 * Recomputes the forwarded amount of payments with forwards at these heights, canonical or orphaned, and moves the
 * holdings with it.
 */
export const settleForwards = async (
  tx: Queryable,
  caip2: string,
  fromNumber: number,
  toNumber: number = Number.MAX_SAFE_INTEGER,
): Promise<void> => {
  const touched = await tx.query<Scope & { id: string }>(forwardedStatement, [caip2, fromNumber, toNumber]);
  if (touched.length === 0) return;
  await tx.query(settleStatement, [
    touched.map(key => key.accountId),
    touched.map(key => key.environment),
    touched.map(key => key.id),
  ]);
};

export type Holding = {
  readonly network: string;
  readonly caip2: string;
  readonly currency: string;
  readonly contract: string | null;
  readonly decimals: number;
  readonly treasury: string;
  readonly amount: bigint;
  readonly payments: number;
};

const readHoldingsStatement = {
  name: 'holdings-read',
  text: `select network, caip2, currency, nullif(contract, '') as contract, decimals, treasury,
      sum(amount)::text as amount, sum(count)::int as payments
    from (
      select network, caip2, currency, contract, decimals, treasury, amount, count from holding_totals
        where account_id = $1 and environment = $2
      union all
      select network, caip2, currency, contract, decimals, treasury, amount, count from holding_deltas
        where account_id = $1 and environment = $2
    ) h group by 1, 2, 3, 4, 5, 6 having sum(amount) > 0 order by network, currency, treasury, caip2`,
};
/** What the account's forwarders hold, exactly: the totals and the deltas that are not folded yet. */
export const readHoldings = async (db: Queryable, scope: Scope): Promise<Holding[]> => {
  const rows = await db.query<Row & Omit<Holding, 'amount'> & { amount: string }>(readHoldingsStatement, [
    scope.accountId,
    scope.environment,
  ]);
  return rows.map(row => ({ ...row, amount: BigInt(row.amount) }));
};

const unsweptStatement = {
  name: 'holdings-unswept',
  text: `select ${paymentColumns} from payments p
    where p.account_id = $1 and p.environment = $2 and p.network = $3 and p.currency = $4
      and p.treasury = $5 and p.wallet_kind = 'forwarder' and p.amount_confirmed > p.amount_forwarded
    order by p.id limit $6`,
};
/** Payments whose forwarders hold confirmed funds for a treasury, oldest first. */
export const unsweptPayments = (
  db: Queryable,
  scope: Scope,
  token: { readonly network: string; readonly currency: string; readonly treasury: string },
  limit: number,
): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(unsweptStatement, [
    scope.accountId,
    scope.environment,
    token.network,
    token.currency,
    token.treasury,
    limit,
  ]);
