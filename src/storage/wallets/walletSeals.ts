import type { Environment, Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import type { WalletRow } from './wallets.ts';

export type SealedWallet = WalletRow & { accountId: string; environment: Environment };

const pageStatement = {
  name: 'wallet-seals',
  text: `select account_id as "accountId", environment, network, version, kind, destination, seal,
      (extract(epoch from takes_effect_at) * 1000)::float8 as "takesEffectAtMs", encode(mac, 'hex') as mac from wallets
    where $1::text is null or (account_id, environment, network, version) > ($1, $2, $3, $4)
    order by account_id, environment, network, version limit $5`,
};
/** Every version of every wallet, page by page. */
export const readSealedWallets = (
  db: Queryable,
  after: SealedWallet | null,
  limit: number,
): Promise<SealedWallet[]> => {
  const place = after ? [after.accountId, after.environment, after.network, after.version] : [null, null, null, null];
  return db.query<SealedWallet>(pageStatement, [...place, limit]);
};

/**
 * Compares the changes in the audit log with the wallets and stops. Versions are compared as text, so that a malformed
 * row cannot fail the query.
 */
const historyStatement = {
  name: 'wallet-history',
  text: `with told as (
      select account_id, environment, subject as network, detail ->> 'version' as version,
        action = 'wallet.change_stopped' as stopped
      from audit_log where action in ('wallet.set', 'wallet.change_requested', 'wallet.change_stopped')
      union all
      select account_id, environment, subject, detail ->> 'stoppedVersion', true
      from audit_log where action = 'wallet.set' and detail ->> 'stoppedVersion' is not null
    ), kept as (
      select account_id, environment, network collate "C" as network, version::text, false as stopped from wallets
      union all
      select account_id, environment, network collate "C", version::text, true from wallet_stops
    )
    select account_id as "accountId", environment, network, version, stopped,
      case when k.account_id is null then 'gone' else 'untold' end as fault
    from told t full join kept k using (account_id, environment, network, version, stopped)
    where k.account_id is null or (t.account_id is null and stopped)
    order by account_id, environment, network, version, stopped limit $1`,
};
export type HistoryFault = Scope & { network: string; version: string; stopped: boolean; fault: 'gone' | 'untold' };
/** Wallets and stops that the audit log lists but that are gone, and stops that it does not list. */
export const readHistoryFaults = (db: Queryable, limit: number): Promise<HistoryFault[]> =>
  db.query<Row & HistoryFault>(historyStatement, [limit]);
