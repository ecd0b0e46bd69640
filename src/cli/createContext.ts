import { createDevPayer } from '../chains/evm/devPayer.ts';
import type { Environment } from '../core/environment.ts';
import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import type { Network } from '../core/registry/networks.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { createKeyUses } from '../engine/access/keyUses.ts';
import { createNetworkDirectory } from '../engine/chain/networkDirectory.ts';
import { type AuditLoss, createRestoreState } from '../engine/chain/restoreGate.ts';
import type { Context, DashboardSettings, EnvironmentSettings } from '../engine/context.ts';
import { openDerivationIndexes } from '../engine/payments/derivationIndexes.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
import type { ConnectionSettings } from '../storage/connect.ts';
import type { Database } from '../storage/database.ts';
import { createExportSource, type ExportSource, primaryOnly } from '../storage/exportSource.ts';
import { checkWebhookUrl } from '../webhooks/guard.ts';
import type { Sender } from '../webhooks/send.ts';
import { readBackupSchedule } from './backupRecord.ts';
import { monotonicMs, openLists } from './compose.ts';
import type { Config } from './config.ts';
import type { Epochs } from './epochFile.ts';
import { nodeCalls, sending } from './outgoingCalls.ts';
import type { Stack } from './stack.ts';
import { localCaip2 } from './watchedChains.ts';

/** Known once all ports are bound. */
export type Urls = Record<Environment | 'dashboard', string>;

const dashboardSettings = ({ dashboard }: Config, urls: Readonly<Urls>): DashboardSettings => ({
  get url() {
    return urls.dashboard;
  },
  isAlone: dashboard.url !== null || dashboard.port !== null,
  mayAddAccounts: dashboard.mayAddAccounts,
});

const environmentSettings = (
  config: Config,
  urls: Readonly<Record<Environment, string>>,
): Record<Environment, EnvironmentSettings> => {
  const settingsOf = (environment: Environment): EnvironmentSettings => ({
    get publicUrl() {
      return urls[environment];
    },
    get checkoutUrl() {
      return config.checkoutUrl ?? `${urls[environment]}/checkout`;
    },
    allowLoopback: environment === 'sandbox' && config.allowLoopbackWebhooks,
  });
  return { production: settingsOf('production'), sandbox: settingsOf('sandbox') };
};

const openExports = (
  { database }: Config,
  admin: AdminContext,
  { listDb, log, stack }: { readonly listDb: Database; readonly log: Log; readonly stack: Stack },
): ExportSource => {
  if (!database?.readUrl) return primaryOnly(listDb);
  const service = { connectionString: database.readUrl };
  const standby = openLists({ service }, admin, log, { applicationName: 'florin exports', needs: 'any' });
  stack.push('connections to the standby', () => standby.close());
  return createExportSource({ standby, primary: listDb, log });
};

/** What all use cases depend on. */
export const createContext = async (parts: {
  readonly config: Config;
  readonly admin: AdminContext;
  readonly service: ConnectionSettings;
  readonly networks: readonly Network[];
  readonly chain: DevChain | null;
  readonly urls: Readonly<Urls>;
  readonly sender: Sender;
  readonly epochs: Epochs;
  readonly auditLoss: () => AuditLoss;
  readonly log: Log;
  readonly meter: Meter;
  readonly stack: Stack;
  /** Ends the mail that somebody waits for. */
  readonly ending: AbortSignal;
}): Promise<Context> => {
  const { config, admin, service, networks, chain, urls, sender, epochs, log, meter, stack } = parts;
  const settings = environmentSettings(config, urls);
  const listDb = openLists({ service }, admin, log);
  stack.push('list connections', () => listDb.close());
  return {
    ...admin,
    listDb,
    exportSource: openExports(config, admin, { listDb, log, stack }),
    networks: createNetworkDirectory(admin.db, networks, monotonicMs),
    localChain: chain && { caip2: localCaip2, ...createDevPayer(chain.rpcUrl) },
    environments: settings,
    dashboard: dashboardSettings(config, urls),
    ...sending(config, sender, settings, parts.ending),
    ...nodeCalls(networks),
    refuseUrl: (url, environment) => checkWebhookUrl(url, settings[environment]),
    derivationIndexes: await openDerivationIndexes(admin, epochs.take, epochs.look),
    restoreState: createRestoreState({ ...admin, log }, monotonicMs, parts.auditLoss),
    backups: () => readBackupSchedule(config, admin.clock.nowMs()),
    keptHours: config.retention.idempotencyHours,
    keyUses: createKeyUses(admin.db, admin.clock.nowMs),
    log,
    meter,
  };
};
