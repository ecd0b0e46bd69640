import type { Scope } from '../../core/environment.ts';
import type { LedgerFlow } from '../../core/ledger.ts';
import type { Queryable, Row } from '../database.ts';

type FlowRow = Row & Omit<LedgerFlow, 'amount'> & { amount: string };

const columns = `account_id as "accountId", environment, caip2, nullif(contract, '') as contract, source, destination`;
const posted = (where: string): string => `(
      select account_id, environment, caip2, contract, source, destination, amount from ledger_totals ${where}
      union all
      select account_id, environment, caip2, contract, source, destination, amount from ledger_deltas ${where}
    )`;

const flowsStatement = {
  name: 'ledger-flows',
  text: `select ${columns}, sum(amount)::text as amount from ${posted('where account_id = $1 and environment = $2')} l
    group by account_id, environment, caip2, contract, source, destination
    having sum(amount) <> 0 order by caip2, contract, source, destination`,
};
/** The ledger of an account, exactly: the totals and the deltas that are not folded yet. */
export const readLedger = async (db: Queryable, scope: Scope): Promise<LedgerFlow[]> => {
  const rows = await db.query<FlowRow>(flowsStatement, [scope.accountId, scope.environment]);
  return rows.map(row => ({ ...row, amount: BigInt(row.amount) }));
};

/** A flow whose posted amount is not the sum of its facts. */
export type LedgerFault = Omit<LedgerFlow, 'amount'> & { readonly posted: string; readonly facts: string };

const faultsStatement = {
  name: 'ledger-faults',
  text: `with facts as (
      select t.account_id, t.environment, t.caip2, coalesce(t.contract, '') as contract,
        case when t.stray then 'stray' else 'received' end as source,
        case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end as destination, t.amount::numeric as amount
      from transfers t
        join payments p on p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id
      where t.canonical and t.verified and not t.superseded
      union all
      select account_id, environment, caip2, coalesce(contract, ''), 'forwarders', 'treasury', amount
      from forwards where canonical and verified
      union all
      select f.account_id, f.environment, r.caip2, r.contract, 'found', 'forwarders', r.found
      from (select distinct account_id, environment, payment_id from forwards) f
        cross join lateral forwarder_records(f.account_id, f.environment, f.payment_id, ${Number.MAX_SAFE_INTEGER}) r
      union all
      select c.account_id, c.environment, c.caip2, coalesce(c.contract, ''), 'corrected',
        case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end, c.amount
      from ledger_corrections c
        join payments p on p.account_id = c.account_id and p.environment = c.environment and p.id = c.payment_id
    ), sums as (
      select account_id, environment, caip2, contract, source, destination, amount, 0 as posted from facts
      union all
      select account_id, environment, caip2, contract, source, destination, 0, amount from ${posted('')} l
    )
    select ${columns}, sum(amount)::text as facts, sum(posted)::text as posted from sums
    group by account_id, environment, caip2, contract, source, destination having sum(amount) <> sum(posted) limit 100`,
};
/** Compares the whole ledger with the facts that it is derived from. Reads every transfer. */
export const ledgerFaults = (db: Queryable): Promise<LedgerFault[]> => db.query<Row & LedgerFault>(faultsStatement);
