import type { Environment } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';

export type UnclaimedRow = Row & {
  accountId: string;
  environment: Environment;
  caip2: string;
  address: string;
  walletKind: 'forwarder' | 'xpub';
  treasury: string;
  contract: string | null;
  amount: string;
  txHash: string | null;
  sender: string | null;
  blockNumber: number;
  firstSeenAt: Date;
};

const listStatement = {
  name: 'unclaimed-list',
  text: `select l.account_id as "accountId", l.environment, u.caip2, u.address, l.wallet_kind as "walletKind", l.treasury,
      u.contract, u.amount::text as amount, u.tx_hash as "txHash", u.sender, u.block_number::float8 as "blockNumber",
      u.first_seen_at as "firstSeenAt"
    from unclaimed_funds u join lost_addresses l on l.address = u.address
    where u.canonical and ($1::text is null or (l.account_id, l.environment) = ($1, $2::environment))
    order by u.first_seen_at desc, u.key limit $3`,
};
/** Funds that no payment is known for, newest first, of one account and environment or of all. */
export const listUnclaimed = (
  db: Queryable,
  scope: { readonly accountId: string; readonly environment: Environment } | null,
  limit: number,
): Promise<UnclaimedRow[]> =>
  db.query<UnclaimedRow>(listStatement, [scope?.accountId ?? null, scope?.environment ?? null, limit]);
