import type { Environment } from '../core/environment.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Database } from '../storage/database.ts';
import type { DatabaseClock } from '../storage/databaseClock.ts';
import type { Vault } from '../vault/vault.ts';
import type { KeyUses } from './keyUses.ts';
import type { NetworkDirectory } from './networkDirectory.ts';

/** How one environment is reached from outside, and what it may reach. */
export type EnvironmentSettings = {
  readonly publicUrl: string;
  readonly checkoutUrl: string;
  /** Loopback and http: webhook targets: only where the environment itself lives on loopback. */
  readonly allowLoopback: boolean;
};

/** Where the dashboard is reached. */
export type DashboardSettings = {
  /** An origin, without a trailing slash. */
  readonly url: string;
  /** It shares its origin with nothing else. */
  readonly isAlone: boolean;
};

export type DeliveryOutcome = {
  delivered: boolean;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
};

/** Signs and sends one webhook now. */
export type Deliver = (message: {
  environment: Environment;
  url: string;
  secrets: string[];
  eventId: string;
  timestampSeconds: number;
  body: string;
}) => Promise<DeliveryOutcome>;

/** The local chain, where test money is free and history can be rewritten. */
export type LocalChain = {
  readonly caip2: string;
  pay(payment: { to: string; token: string | null; amount: bigint }): Promise<string>;
  undo(txHash: string): Promise<void>;
};

/** What a call of a contract would take: units of gas, and what one costs in the smallest unit of the native coin. */
export type EstimateGas = (
  caip2: string,
  transaction: { readonly to: string; readonly data: string },
) => Promise<{ readonly units: bigint; readonly price: bigint | null } | null>;

/** What use cases work with. Built once, by the composition. */
export type Context = {
  readonly db: Database;
  /** Connections of their own for lists, so that many slow pages cannot keep payments from being created. */
  readonly listDb: Database;
  readonly clock: DatabaseClock;
  readonly ids: IdSource;
  readonly vault: Vault;
  readonly networks: NetworkDirectory;
  readonly localChain: LocalChain | null;
  readonly environments: Readonly<Record<Environment, EnvironmentSettings>>;
  readonly dashboard: DashboardSettings;
  readonly deliver: Deliver;
  /** Null where no node of the chain says. */
  readonly estimateGas: EstimateGas;
  /** A reason to refuse a webhook or callback address, or null. */
  readonly refuseUrl: (url: string, environment: Environment) => string | null;
  /** When keys were last used, on its way to the database. */
  readonly keyUses: KeyUses;
  readonly log: Log;
};
