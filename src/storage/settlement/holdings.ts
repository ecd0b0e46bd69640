import type { Scope } from '../../core/environment.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable, Row } from '../database.ts';
import { paymentKeys } from '../payments/paymentKeys.ts';
import { type PaymentRow, paymentColumns } from '../payments/payments.ts';

const keys = paymentKeys.rows('k');

const forwardedStatement = {
  name: 'holdings-forwarded',
  text: `select account_id as "accountId", environment, payment_id as id
      from forwards where caip2 = $4 and block_number >= $5
    union
    select account_id, environment, payment_id from forwards where caip2 = $4 and block_number = any($6::bigint[])
    union select k.account_id, k.environment, k.id from ${keys}`,
};

// Payments of other chains are not locked: only their found funds on this chain change, which its lock guards.
const lockStatement = {
  name: 'holdings-lock',
  text: `select p.id from ${keys}
      join payments p on p.account_id = k.account_id and p.environment = k.environment and p.id = k.id and p.caip2 = $4
    order by p.account_id, p.environment, p.id for no key update of p`,
};

// A separate statement after the lock, to see what the previous holder of the lock wrote. What sweeps moved beyond the
// records is not taken from what arrives later: a payment's forwarded amount is what they moved of recorded funds.
const settleStatement = {
  name: 'holdings-settle',
  text: `with records as materialized (
      select k.account_id, k.environment, k.id, r.contract, r.excess, least(r.found, 1e54) as found,
        least(r.forwarded, 1e54) as forwarded
      from ${keys} cross join lateral forwarder_records(k.account_id, k.environment, k.id, ${Number.MAX_SAFE_INTEGER}) r
      where r.caip2 = $4
    ), changed as (
      select p.account_id, p.environment, p.id, p.currency, p.network, p.decimals, p.caip2, coalesce(p.contract, '') as contract,
        p.treasury, f.forwarded,
        case when p.wallet_kind = 'forwarder' then greatest(p.amount_confirmed - p.amount_forwarded, 0) else 0 end as was,
        case when p.wallet_kind = 'forwarder' then greatest(p.amount_confirmed - f.forwarded, 0) else 0 end as held
      from ${keys} join payments p on p.account_id = k.account_id and p.environment = k.environment
          and p.id = k.id and p.caip2 = $4
        cross join lateral (
          select coalesce(sum(r.forwarded), 0) as forwarded from records r
          where r.id = p.id and r.contract = coalesce(p.contract, '')
        ) f
      where f.forwarded <> p.amount_forwarded
    ), settled as (
      update payments p set amount_forwarded = c.forwarded from changed c
      where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id
    ), moved as (
      insert into holding_deltas (account_id, environment, network, caip2, currency, contract, decimals, treasury, count,
        amount)
      select account_id, environment, network, caip2, currency, contract, decimals, treasury,
        sum((held > 0)::int - (was > 0)::int), sum(held - was)
      from changed group by 1, 2, 3, 4, 5, 6, 7, 8
      having sum((held > 0)::int - (was > 0)::int) <> 0 or sum(held - was) <> 0
    ), before as (
      select f.account_id, f.environment, f.payment_id as id, f.contract, f.amount from ${keys} join found_funds f
        on f.account_id = k.account_id and f.environment = k.environment and f.payment_id = k.id and f.caip2 = $4
    ), written as (
      -- A full join: a reorg may have removed all facts of the token.
      insert into found_funds as old (account_id, environment, payment_id, caip2, contract, amount)
      select account_id, environment, id, $4, contract, coalesce(r.found, 0)
      from records r full join before b using (account_id, environment, id, contract)
      where r.found > 0 or b.amount > 0
      on conflict (account_id, environment, payment_id, caip2, contract)
        do update set amount = excluded.amount where old.amount <> excluded.amount
      returning *
    )
    select w.account_id as "accountId", w.environment, w.payment_id as id, nullif(w.contract, '') as contract,
      r.excess::text as amount, p.address, p.created_at as "createdAt"
    from written w join payments p on p.account_id = w.account_id and p.environment = w.environment and p.id = w.payment_id
      join records r on r.id = w.payment_id and r.contract = w.contract
      left join before b on b.id = w.payment_id and b.contract = w.contract
    where w.amount > coalesce(b.amount, 0) and r.excess > 0`,
};
/** What sweeps of a payment's forwarder moved on a chain beyond the recorded transfers. */
export type FoundFunds = PaymentKey & {
  readonly contract: string | null;
  /** Base units, as text. */
  readonly amount: string;
  readonly address: string;
  readonly createdAt: Date;
};

/** Which forwards changed: all from a height on, canonical or orphaned, or those at some heights. */
export type ChangedForwards = { readonly from: number } | { readonly at: readonly number[] };
const noHeight = Number.MAX_SAFE_INTEGER;

/**
 * Recomputes what was forwarded, and moves the holdings with it: for payments whose forwards changed, and for `touched`.
 * Returns found funds that are new or have grown and that no transfer explains, not even one that is not verified yet.
 */
export const settleForwards = async (
  tx: Queryable,
  caip2: string,
  changed: ChangedForwards,
  touched: readonly PaymentKey[],
): Promise<FoundFunds[]> => {
  const [from, at] = 'from' in changed ? [changed.from, []] : [noHeight, changed.at];
  if (from === noHeight && at.length + touched.length === 0) return [];
  const forwarded = await tx.query<Row & PaymentKey>(forwardedStatement, [
    ...paymentKeys.values(touched),
    caip2,
    from,
    at,
  ]);
  if (forwarded.length === 0) return [];
  const values = [...paymentKeys.values(forwarded), caip2];
  await tx.query(lockStatement, values);
  return tx.query<Row & FoundFunds>(settleStatement, values);
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
