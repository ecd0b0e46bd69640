import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { type PaymentRow, paymentColumns } from '../payments/payments.ts';
import type { WalletRow } from '../wallets/wallets.ts';

const pageStatement = {
  name: 'recovery-page',
  text: `select ${paymentColumns} from payments p
    where p.account_id = $1 and p.environment = $2 and p.id > $3 and p.wallet_kind = 'forwarder' order by p.id limit $4`,
};
/** The account's payments with forwarders after an id, paid or not: anybody can send to them at any time. */
export const forwarderPayments = (db: Queryable, scope: Scope, afterId: string, limit: number): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(pageStatement, [scope.accountId, scope.environment, afterId, limit]);

export type LostForwarder = Row & { address: string; treasury: string; derivationIndex: string };

const lostStatement = {
  name: 'recovery-lost',
  text: `select l.address, l.treasury, l.derivation_index::text as "derivationIndex" from lost_addresses l
    where l.account_id = $1 and l.environment = $2 and l.wallet_kind = 'forwarder' and l.address > $3
      and exists (select from unclaimed_funds u where u.address = l.address) = $4
      and not exists (select from payments p where p.address = l.address)
    order by l.address limit $5`,
};
/** Forwarders of payments that a restore lost, after an address: those that received something, or the others. */
export const lostForwarders = (
  db: Queryable,
  scope: Scope,
  { isFunded, after, limit }: { readonly isFunded: boolean; readonly after: string; readonly limit: number },
): Promise<LostForwarder[]> =>
  db.query<LostForwarder>(lostStatement, [scope.accountId, scope.environment, after, isFunded, limit]);

const treasuriesStatement = {
  name: 'recovery-treasuries',
  text: `select network, version, kind, destination, seal, encode(mac, 'hex') as mac,
      (extract(epoch from takes_effect_at) * 1000)::bigint::float8 as "takesEffectAtMs"
    from wallets where account_id = $1 and environment = $2 and kind = 'forwarder'`,
};
/** Every treasury that the account has set, also those that another has replaced. */
export const treasuriesEverSet = (db: Queryable, scope: Scope): Promise<(Row & WalletRow)[]> =>
  db.query<Row & WalletRow>(treasuriesStatement, [scope.accountId, scope.environment]);
