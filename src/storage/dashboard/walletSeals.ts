import type { Environment } from '../../core/environment.ts';
import type { Queryable } from '../database.ts';
import type { WalletRow } from '../wallets.ts';

export type SealedWallet = WalletRow & { accountId: string; environment: Environment };

const pageStatement = {
  name: 'wallet-seals',
  text: `select account_id as "accountId", environment, network, version, kind, destination, seal,
      (extract(epoch from takes_effect_at) * 1000)::float8 as "takesEffectAtMs", encode(mac, 'hex') as mac from wallets
    where $1::text is null or (account_id, environment, network, version) > ($1, $2, $3, $4)
    order by account_id, environment, network, version limit $5`,
};
/** Every version of every wallet, a page at a time. */
export const readSealedWallets = (
  db: Queryable,
  after: SealedWallet | null,
  limit: number,
): Promise<SealedWallet[]> => {
  const place = after ? [after.accountId, after.environment, after.network, after.version] : [null, null, null, null];
  return db.query<SealedWallet>(pageStatement, [...place, limit]);
};
