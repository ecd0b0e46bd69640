import type { FactoryState } from '../../core/chain.ts';
import type { Environment } from '../../core/environment.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { putDeploymentValue } from '../deployment.ts';
import { sealsOf } from '../seals.ts';

export type NetworkHealth = 'operational' | 'degraded' | 'down' | 'maintenance';

export type NetworkStatusRow = Row & {
  environment: Environment;
  network: string;
  caip2: string;
  status: NetworkHealth;
  reason: string | null;
  latestBlock: string | null;
  /** The newest block of the chain that was read. The row of the chain is sealed, and the rest here is not. */
  readTo: string | null;
  lagSeconds: number | null;
  /** Currencies that cannot be accepted on this network: symbol to reason. */
  disabledCurrencies: Readonly<Record<string, string>>;
  /** Whether the chain has the forwarder factory; null if this was never measured. */
  factory: FactoryState | null;
  /** The token contracts that the watcher reads. */
  readContracts: readonly string[];
  checkedAt: Date;
  /** Age of the measurement by the database's clock. */
  ageSeconds: number;
};

/** The factory belongs to a chain, and outlives each measurement of a network. */
const factoryName = (caip2: string): string => `factory ${caip2}`;
export const writeFactoryState = (db: Queryable, caip2: string, state: FactoryState): Promise<void> =>
  putDeploymentValue(db, factoryName(caip2), state);

const readStatement = {
  name: 'network-status-read',
  text: `select s.environment, s.network, s.caip2, s.status, s.reason, s.latest_block as "latestBlock",
      c.latest_number as "readTo", s.lag_seconds as "lagSeconds", s.disabled_currencies as "disabledCurrencies",
      s.checked_at as "checkedAt", d.value as factory,
      extract(epoch from clock_timestamp() - s.checked_at)::float8 as "ageSeconds", array(
        select r.contract from read_contracts r where r.caip2 = s.caip2 and r.read_to is null
      ) as "readContracts", ${sealsOf({ c: 'chains' })}
    from network_status s left join deployment d on d.name = '${factoryName('')}' || s.caip2
      left join chains c on c.caip2 = s.caip2`,
};
/** Without networks whose chain does not match its seal: nothing reads it either. */
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
  disabledCurrencies: Readonly<Record<string, string>>;
};

const measured = columns<Measurement>({
  environment: ['environment', m => m.environment],
  network: ['text', m => m.network],
  caip2: ['text', m => m.caip2],
  status: ['text', m => m.status],
  reason: ['text', m => m.reason],
  latest_block: ['bigint', m => m.latestBlock?.toString() ?? null],
  lag_seconds: ['integer', m => m.lagSeconds],
  disabled_currencies: ['jsonb', m => JSON.stringify(m.disabledCurrencies)],
});
const writeStatement = {
  name: 'network-status-write',
  text: `insert into network_status as s (${measured.names}, checked_at)
    select m.*, clock_timestamp() from ${measured.rows('m')}
    on conflict (environment, network) do update set caip2 = excluded.caip2, status = excluded.status,
      reason = excluded.reason, latest_block = coalesce(excluded.latest_block, s.latest_block),
      lag_seconds = excluded.lag_seconds, disabled_currencies = excluded.disabled_currencies, checked_at = excluded.checked_at`,
};
/** Each network at most once per call. */
export const writeNetworkStatus = async (db: Queryable, measurements: readonly Measurement[]): Promise<void> => {
  await db.query(writeStatement, measured.values(measurements));
};
