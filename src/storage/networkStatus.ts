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
  checkedAt: Date;
  /** Age of the measurement by the database's clock. */
  ageSeconds: number;
};

const readStatement = {
  name: 'network-status-read',
  text: `select environment, network, caip2, status, reason, latest_block as "latestBlock", lag_seconds as "lagSeconds",
      caught_up_at as "caughtUpAt", checked_at as "checkedAt",
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
  lagSeconds: number | null;
  caughtUpAt: Date | null;
};

const writeStatement = {
  name: 'network-status-write',
  text: `insert into network_status as s (environment, network, caip2, status, reason, latest_block, lag_seconds,
      caught_up_at, checked_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
    on conflict (environment, network) do update set caip2 = excluded.caip2, status = excluded.status,
      reason = excluded.reason, latest_block = coalesce(excluded.latest_block, s.latest_block),
      lag_seconds = excluded.lag_seconds,
      caught_up_at = case when s.caip2 = excluded.caip2 then greatest(s.caught_up_at, excluded.caught_up_at)
        else excluded.caught_up_at end,
      checked_at = excluded.checked_at`,
};
export const writeNetworkStatus = async (db: Queryable, m: Measurement): Promise<void> => {
  await db.query(writeStatement, [
    m.environment,
    m.network,
    m.caip2,
    m.status,
    m.reason,
    m.latestBlock?.toString() ?? null,
    m.lagSeconds,
    m.caughtUpAt,
  ]);
};

type ChainInstant = Row & { now: Date; environment: Environment; network: string; caip2: string; caughtUpAt: Date };

const chainTimesStatement = {
  name: 'network-chain-times',
  text: `select clock.now, n.environment, n.network, n.caip2, n.caught_up_at as "caughtUpAt"
    from (select clock_timestamp()::timestamptz(3) as now) clock
      left join network_status n on n.caught_up_at is not null`,
};

export type ChainTimes = {
  /** The database's clock. */
  now: Date;
  /** When the latest poll that found every block of this chain processed began. Null where the slug is another chain. */
  caughtUpAt(chain: { environment: Environment; network: string; caip2: string }): Date | null;
};

export const readChainTimes = async (db: Queryable): Promise<ChainTimes> => {
  const rows = await db.query<ChainInstant>(chainTimesStatement);
  const instants = new Map(rows.map(row => [`${row.environment} ${row.network} ${row.caip2}`, row.caughtUpAt]));
  return {
    now: rows[0]!.now,
    caughtUpAt: ({ environment, network, caip2 }) => instants.get(`${environment} ${network} ${caip2}`) ?? null,
  };
};
