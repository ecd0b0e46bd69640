import type { Scope } from '../../core/environment.ts';
import type { Queryable } from '../database.ts';
import { type PaymentRow, paymentColumns } from '../payments/payments.ts';

/** What a payment's forwarder holds of a token that is not its own. */
export type StrayHolding = PaymentRow & {
  strayCaip2: string;
  /** Null for the native coin. */
  strayContract: string | null;
  /** Base units, as text. */
  held: string;
};

/**
 * Received and not forwarded, for the alias p: verified transfers on canonical blocks, and what sweeps moved of them.
 */
const strays = `(
      select t.caip2, t.contract, sum(t.amount) as amount from transfers t
      where t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
        and t.stray and t.canonical and not t.superseded and t.verified
      group by t.caip2, t.contract
    ) t cross join lateral (
      select coalesce(max(r.forwarded), 0) as amount
      from forwarder_records(p.account_id, p.environment, p.id, ${Number.MAX_SAFE_INTEGER}) r
      where r.caip2 = t.caip2 and r.contract = coalesce(t.contract, '')
    ) f`;

const heldStatement = {
  name: 'stray-holdings',
  text: `select ${paymentColumns}, t.caip2 as "strayCaip2", t.contract as "strayContract", (t.amount - f.amount)::text as held
    from payments p cross join lateral ${strays}
    where p.account_id = $1 and p.environment = $2 and p.strayed and p.wallet_kind = 'forwarder' and t.amount > f.amount
    order by row_number() over (partition by t.caip2, t.contract order by t.amount - f.amount desc, p.id), p.id limit $3`,
};
/**
 * Strays at the account's forwarders, the largest of each token first: anybody can send dust to many addresses. Reads every
 * payment of the account that ever had one.
 */
export const readStrayHoldings = (db: Queryable, scope: Scope, limit: number): Promise<StrayHolding[]> =>
  db.query<StrayHolding>(heldStatement, [scope.accountId, scope.environment, limit]);

const receivedStatement = {
  name: 'stray-received',
  text: `select p.id, greatest(t.amount - f.amount, 0)::text as held
    from payments p cross join lateral ${strays}
    where p.account_id = $1 and p.environment = $2 and p.id = any($3::text[]) and p.wallet_kind = 'forwarder'
      and t.caip2 = $4 and t.contract is not distinct from $5`,
};
/** Those payments that ever received the token as a stray, with what they hold of it now. */
export const strayHeldBy = async (
  db: Queryable,
  scope: Scope,
  ids: readonly string[],
  token: { readonly caip2: string; readonly contract: string | null },
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await db.query<{ id: string; held: string }>(receivedStatement, [
    scope.accountId,
    scope.environment,
    ids,
    token.caip2,
    token.contract,
  ]);
  return new Map(rows.map(({ id, held }) => [id, BigInt(held)]));
};
