import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';

export const searchHits = 20;

const mine = 'account_id = $1 and environment = $2';

// Each by its own index. `or` over four columns would have no plan but to read them all.
const searchStatement = {
  name: 'payments-search',
  text: `select distinct id from (
      (select id from payments where ${mine} and id = $3)
      union all
      (select id from payments where ${mine} and address = $4)
      union all
      (select id from payments where ${mine} and external_id = $3)
      union all
      (select payment_id from transfers where ${mine} and tx_hash = $5 limit ${searchHits})
      union all
      (select payment_id from forwards where ${mine} and tx_hash = $5 limit ${searchHits})
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
