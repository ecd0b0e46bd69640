import type { Environment } from '../core/environment.ts';
import type { Queryable, Row } from './database.ts';

export type NetworkHealth = 'operational' | 'degraded' | 'down' | 'maintenance';

export type NetworkStatusRow = Row & {
  environment: Environment;
  network: string;
  caip2: string;
  status: NetworkHealth;
  reason: string | null;
  latestBlock: string | null;
  lagSeconds: number | null;
  caughtUpAt: Date | null;
  streak: number;
  checkedAt: Date;
  /** Age of the measurement by the database's clock. */
  ageSeconds: number;
};

const readStatement = {
  name: 'network-status-read',
  text: `select environment, network, caip2, status, reason, latest_block as "latestBlock", lag_seconds as "lagSeconds",
      caught_up_at as "caughtUpAt", streak, checked_at as "checkedAt",
      extract(epoch from clock_timestamp() - checked_at)::float8 as "ageSeconds"
    from network_status`,
};
export const readNetworkStatus = (db: Queryable): Promise<NetworkStatusRow[]> =>
  db.query<NetworkStatusRow>(readStatement);

export type Measurement = {
  environment: Environment;
  network: string;
  caip2: string;
  status: NetworkHealth;
  reason: string | null;
  latestBlock: bigint | null;
  latestBlockHash: string | null;
  latestBlockAt: Date | null;
  lagSeconds: number | null;
  caughtUpAt: Date | null;
  streak: number;
};

const writeStatement = {
  name: 'network-status-write',
  text: `insert into network_status as s (environment, network, caip2, status, reason, latest_block, latest_block_hash,
      latest_block_at, lag_seconds, caught_up_at, streak, checked_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())
    on conflict (environment, network) do update set caip2 = excluded.caip2, status = excluded.status,
      reason = excluded.reason, latest_block = coalesce(excluded.latest_block, s.latest_block),
      latest_block_hash = coalesce(excluded.latest_block_hash, s.latest_block_hash),
      latest_block_at = coalesce(excluded.latest_block_at, s.latest_block_at), lag_seconds = excluded.lag_seconds,
      caught_up_at = case when s.caip2 = excluded.caip2 then greatest(s.caught_up_at, excluded.caught_up_at)
        else excluded.caught_up_at end,
      streak = excluded.streak, checked_at = excluded.checked_at`,
};
export const writeNetworkStatus = async (db: Queryable, m: Measurement): Promise<void> => {
  await db.query(writeStatement, [
    m.environment,
    m.network,
    m.caip2,
    m.status,
    m.reason,
    m.latestBlock?.toString() ?? null,
    m.latestBlockHash,
    m.latestBlockAt,
    m.lagSeconds,
    m.caughtUpAt,
    m.streak,
  ]);
};

const caughtUpStatement = {
  name: 'network-caught-up',
  text: `select caught_up_at as "caughtUpAt" from network_status where environment = $1 and network = $2`,
};
/** When the latest poll that found every block of this network processed began. */
export const readCaughtUpAt = async (db: Queryable, environment: Environment, network: string): Promise<Date | null> =>
  (await db.query<{ caughtUpAt: Date | null }>(caughtUpStatement, [environment, network]))[0]?.caughtUpAt ?? null;
