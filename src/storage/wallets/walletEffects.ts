import type { Environment } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { isDue, isNotStopped } from './wallets.ts';

/** A delayed change of a wallet that has taken effect. */
export type WalletEffect = Row & {
  accountId: string;
  environment: Environment;
  network: string;
  version: number;
  kind: string;
  destination: string;
};

const dueStatement = {
  name: 'wallet-effects-due',
  text: `select w.account_id as "accountId", w.environment, w.network, w.version, w.kind, w.destination from wallets w
    where w.takes_effect_at is not null and ${isDue} and ${isNotStopped}
      and not exists (select from wallet_effects e where e.account_id = w.account_id and e.environment = w.environment
        and e.network = w.network and e.version = w.version)
    order by w.takes_effect_at, w.account_id, w.network limit $1`,
};
/** Changes that took effect and were not announced, the first one first. */
export const dueWalletEffects = (db: Queryable, limit: number): Promise<WalletEffect[]> =>
  db.query<WalletEffect>(dueStatement, [limit]);

const insertStatement = {
  name: 'wallet-effect-insert',
  text: `insert into wallet_effects (account_id, environment, network, version) values ($1, $2, $3, $4)
    on conflict do nothing returning version`,
};
/** False if another process announces it. */
export const insertWalletEffect = async (tx: Queryable, effect: WalletEffect): Promise<boolean> => {
  const { accountId, environment, network, version } = effect;
  return (await tx.query(insertStatement, [accountId, environment, network, version])).length > 0;
};
