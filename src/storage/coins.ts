import type { PaymentKey } from '../core/paymentKey.ts';
import type { Queryable, Row } from './database.ts';

/** A recorded change of an address's native coin: transfers are positive, forwards negative. */
export type CoinChange = { readonly blockNumber: number; readonly amount: string };

export type CoinPayment = Row & PaymentKey & { address: string; changes: readonly CoinChange[] };

/** How many blocks back a reorg may reach. */
const recentBlocks = 256;

const openCoinsStatement = {
  name: 'coins-open',
  text: `select p.account_id as "accountId", p.environment, p.id, p.address, coalesce((
      select json_agg(json_build_object('blockNumber', r.block_number, 'amount', r.amount::text)) from (
        select t.block_number, t.amount from transfers t
        where t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
          and t.caip2 = $1 and t.contract is null and t.canonical and not t.superseded
        union all
        select f.block_number, -f.amount from forwards f
        where f.account_id = p.account_id and f.environment = p.environment and f.payment_id = p.id
          and f.caip2 = $1 and f.contract is null and f.canonical and f.verified
      ) r), '[]') as changes
    from (
      (select account_id, environment, id, address from payments
        where caip2 = $1 and contract is null and status in ('pending', 'confirming', 'reversed') and id > $2
          and wallet_kind = 'forwarder' order by id limit $3)
      union all
      (select distinct l.account_id, l.environment, l.id, l.address
        from chains c
          join transfers t on t.caip2 = c.caip2 and t.block_number > c.latest_number - ${recentBlocks}
            and t.superseded
          join payments l on l.account_id = t.account_id and l.environment = t.environment and l.id = t.payment_id
        where c.caip2 = $1 and l.status = 'expired' and l.id > $2 and l.wallet_kind = 'forwarder'
        order by l.id limit $3)
    ) p
    order by p.id limit $3`,
};
/**
 * Native-coin payments that wait for funds, ordered by id, with all recorded changes of their addresses. Expired ones
 * are among them if a reorg took their coin, which may arrive again in another block. Forwarder addresses only: nobody
 * could know them before the payment existed, while another address may hold older coin.
 */
export const openCoinPayments = (db: Queryable, caip2: string, after: string, limit: number): Promise<CoinPayment[]> =>
  db.query<CoinPayment>(openCoinsStatement, [caip2, after, limit]);

const foundSinceStatement = {
  name: 'coins-found-since',
  text: `select distinct p.address from payments p
      join transfers t on t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
    where p.address = any($2::text[]) and t.caip2 = $1 and t.contract is null and t.tx_hash is null and t.canonical
      and not t.superseded and t.block_number >= $3`,
};
/** Those addresses whose coin was found by balance at this height or above: that balance includes all earlier coin. */
export const addressesFoundSince = async (
  tx: Queryable,
  caip2: string,
  addresses: readonly string[],
  number: number,
): Promise<ReadonlySet<string>> => {
  if (addresses.length === 0) return new Set();
  const rows = await tx.query<Row & { address: string }>(foundSinceStatement, [caip2, addresses, number]);
  return new Set(rows.map(({ address }) => address));
};
