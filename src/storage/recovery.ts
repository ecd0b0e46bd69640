import type { Scope } from '../core/environment.ts';
import type { Queryable } from './database.ts';
import { type PaymentRow, paymentColumns } from './payments.ts';

const pageStatement = {
  name: 'recovery-page',
  text: `select ${paymentColumns} from payments p
    where p.account_id = $1 and p.environment = $2 and p.id > $3 and p.wallet_kind = 'forwarder' order by p.id limit $4`,
};
/** The account's payments with forwarders after an id, paid or not: anybody can send to them at any time. */
export const forwarderPayments = (db: Queryable, scope: Scope, afterId: string, limit: number): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(pageStatement, [scope.accountId, scope.environment, afterId, limit]);
