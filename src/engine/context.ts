import type { Environment } from '../core/environment.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { SendMail } from '../core/mailNotice.ts';
import type { Meter } from '../core/meter.ts';
import type { Database } from '../storage/database.ts';
import type { DatabaseClock } from '../storage/databaseClock.ts';
import type { ExportSource } from '../storage/exportSource.ts';
import type { Floors } from '../storage/floors.ts';
import type { Vault } from '../vault/vault.ts';
import type { KeyUses } from './access/keyUses.ts';
import type { NetworkDirectory } from './chain/networkDirectory.ts';
import type { RestoreState } from './chain/restoreGate.ts';
import type { DerivationIndexes } from './payments/derivationIndexes.ts';

/** The public addresses of an environment, and what it may connect to. */
export type EnvironmentSettings = {
  readonly publicUrl: string;
  readonly checkoutUrl: string;
  /** Whether webhooks may go to loopback and http:. Only in the sandbox, and only if all public URLs are loopback. */
  readonly allowLoopback: boolean;
};

export type DashboardSettings = {
  /** An origin, without a trailing slash. */
  readonly url: string;
  /** Whether the dashboard has an origin of its own. */
  readonly isAlone: boolean;
  /** Whether people who are signed in may create further accounts. */
  readonly mayAddAccounts: boolean;
};

export type DeliveryOutcome = {
  delivered: boolean;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
};

/** Signs and sends one webhook now, as the deliverer does. */
export type Deliver = (message: {
  environment: Environment;
  url: string;
  secrets: string[];
  eventId: string;
  atMs: number;
  body: string;
  /** As events keep it. */
  trace: string | null;
}) => Promise<DeliveryOutcome>;

/** The local chain: test money is free and transactions can be undone. */
export type LocalChain = {
  readonly caip2: string;
  pay(payment: { to: string; token: string | null; amount: bigint }): Promise<string>;
  undo(txHash: string): Promise<void>;
};

/** Gas units of a contract call, and the gas price in the smallest unit of the native coin. */
export type EstimateGas = (
  caip2: string,
  transaction: { readonly to: string; readonly data: string },
) => Promise<{ readonly units: bigint; readonly price: bigint | null } | null>;

/** The answer of a contract to a call that changes nothing, as hexadecimal digits; null if no node gives one. */
export type CallContract = (
  caip2: string,
  transaction: { readonly to: string; readonly data: string },
) => Promise<string | null>;

/** What the schedule of backups has done. */
export type BackupSchedule = {
  readonly isScheduled: boolean;
  /** Whether none is overdue. */
  readonly isInTime: boolean;
  readonly lastAt: string | null;
  readonly failingSince: string | null;
};

/** The dependencies of all use cases, built once at startup. */
export type Context = {
  readonly db: Database;
  /** Separate connections for lists, so that slow pages cannot block the creation of payments. */
  readonly listDb: Database;
  /** Where an export is read from. */
  readonly exportSource: ExportSource;
  readonly clock: DatabaseClock;
  readonly ids: IdSource;
  readonly vault: Vault;
  /** The latest versions of rows that this process has seen. */
  readonly floors: Floors;
  /**
   * Whether every process knows this migration. Until then a process of the release before may run, so no row may be written
   * that it would misread. True stays true.
   */
  readonly isFinished: (migration: number) => boolean;
  readonly networks: NetworkDirectory;
  readonly localChain: LocalChain | null;
  readonly environments: Readonly<Record<Environment, EnvironmentSettings>>;
  readonly dashboard: DashboardSettings;
  readonly deliver: Deliver;
  /** Null if no mail is sent. */
  readonly sendMail: SendMail | null;
  /** Resolves to null if no node gives an estimate. */
  readonly estimateGas: EstimateGas;
  readonly callContract: CallContract;
  /** The code at an address, `0x` if there is none; null if no node answers. */
  readonly readCode: (caip2: string, address: string) => Promise<string | null>;
  /** Why a webhook or callback URL is refused, or null. */
  readonly refuseUrl: (url: string, environment: Environment) => string | null;
  readonly derivationIndexes: DerivationIndexes;
  /** What a restore keeps closed, as it was at most half a second ago. */
  readonly restoreState: () => Promise<RestoreState>;
  /** Null if the database belongs to another server, which is backed up by its own means. */
  readonly backups: () => Promise<BackupSchedule | null>;
  /** How long answers to requests with an Idempotency-Key are kept. */
  readonly keptHours: number;
  /** Last uses of API keys that are not yet written. */
  readonly keyUses: KeyUses;
  readonly log: Log;
  readonly meter: Meter;
};
