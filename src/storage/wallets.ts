import type { Scope } from '../core/environment.ts';
import type { Queryable } from './database.ts';

const insertWalletStatement = {
  name: 'wallet-insert',
  text: `insert into wallets (account_id, environment, network, version, kind, destination, mac)
    select $1, $2, $3, coalesce(max(version), 0) + 1, $4, $5, $6
    from wallets where account_id = $1 and environment = $2 and network = $3`,
};
/** Puts a new version in force for payments created from now on. */
export const insertWallet = async (
  db: Queryable,
  scope: Scope,
  wallet: { network: string; kind: 'forwarder' | 'xpub'; destination: string; mac: Buffer },
): Promise<void> => {
  await db.query(insertWalletStatement, [
    scope.accountId,
    scope.environment,
    wallet.network,
    wallet.kind,
    wallet.destination,
    wallet.mac,
  ]);
};

const takeIndexesStatement = {
  name: 'derivation-take',
  text: `insert into derivation_counters as c (series, next) values ($1, $2)
    on conflict (series) do update set next = c.next + $2 returning next`,
};
/** Reserves `count` derivation indexes that nobody else will ever get, and returns the first. */
export const takeIndexes = async (db: Queryable, series: string, count: number): Promise<bigint> => {
  const [row] = await db.query<{ next: string }>(takeIndexesStatement, [series, count]);
  return BigInt(row!.next) - BigInt(count);
};
