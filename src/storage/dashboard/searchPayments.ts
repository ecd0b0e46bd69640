import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';

export const searchHits = 20;

const owned = 'account_id = $1 and environment = $2';

// Each part uses its own index. With `or` over the columns, the only plan is to read every payment.
const searchStatement = {
  name: 'payments-search',
  text: `select distinct id from (
      (select id from payments where ${owned} and id = $3)
      union all
      (select id from payments where ${owned} and address = $4)
      union all
      (select id from payments where ${owned} and external_id = $3)
      union all
      (select payment_id from transfers where ${owned} and tx_hash = $5 limit ${searchHits})
      union all
      (select payment_id from forwards where ${owned} and tx_hash = $5 limit ${searchHits})
    ) found order by id desc limit ${searchHits}`,
};
/** Ids of the payments that have this id, address, transaction or externalId. A transaction may pay or sweep many. */
export const searchPayments = async (
  db: Queryable,
  scope: Scope,
  wanted: { readonly text: string; readonly address: string; readonly txHash: string },
): Promise<string[]> => {
  const values = [scope.accountId, scope.environment, wanted.text, wanted.address, wanted.txHash];
  return (await db.query<Row & { id: string }>(searchStatement, values)).map(row => row.id);
};
