import type { Log } from '../core/log.ts';
import type { Progress } from '../core/progress.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import type { AuditLoss } from '../engine/chain/restoreGate.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import type { ServerTls } from '../http/edge/secureServer.ts';
import { lockDataDirectory } from '../local/dataDirectoryLock.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
import type { ConnectionSettings } from '../storage/connect.ts';
import { type AuditLook, openAuditHeads } from './auditHeadsFile.ts';
import { makeDataDir, startStorage, tlsOf } from './compose.ts';
import type { Config } from './config.ts';
import { type Epochs, openEpochs } from './epochFile.ts';
import { type FirstRun, prepareFirstRun, prepareSetupLink } from './firstRun.ts';
import { refuseTakenPorts } from './refuseTakenPorts.ts';
import type { Stack } from './stack.ts';
import { startKeys } from './startKeys.ts';
import { startLocalChain } from './startLocalChain.ts';

/** What a process needs of the data directory and of the programs beside it. */
export type Machine = {
  readonly tls: ServerTls;
  /** Connects to the database as the service. */
  readonly service: ConnectionSettings;
  readonly admin: AdminContext;
  /** The name under which this data directory holds leases and claims. */
  readonly holder: string;
  /** What is missing in audit logs now. */
  readonly auditLoss: () => AuditLoss;
  readonly epochs: Epochs;
  /** Null if no local chain runs here. */
  readonly chain: DevChain | null;
};

/** What one process of a data directory starts, whether it serves by itself or has other processes for that. */
export type StartedMachine = Machine & {
  readonly caPath: string | null;
  readonly firstRun: FirstRun | null;
  readonly setupToken: string | null;
  /** Resolves when this version may no longer use the database: the upgrade to another one is finished. */
  readonly outdated: Promise<void>;
  /** Messages for the operator. */
  readonly notices: readonly string[];
};

type Parts = {
  readonly log: Log;
  readonly stack: Stack;
  readonly progress: Progress;
  readonly restored: Declaration | undefined;
  readonly emptyBlockIntervalMs?: number | undefined;
  readonly keepAuditHeadsMs?: number | undefined;
  /** Is told what each look at the audit logs has found. */
  readonly onAuditLook?: ((look: AuditLook) => void) | undefined;
};

/** The data directory, the ports and the certificate: what another program may have. */
const takeMachine = async (config: Config, stack: Stack) => {
  await makeDataDir(config);
  const lock = lockDataDirectory({ dataDir: config.dataDir });
  stack.push('data directory lock', () => lock.release());
  await refuseTakenPorts(config);
  return tlsOf(config);
};

/** Returns what is missing in audit logs while Florin runs. */
const watchAuditLogs = async (config: Config, admin: AdminContext, parts: Parts): Promise<() => AuditLoss> => {
  const { log, stack, keepAuditHeadsMs, onAuditLook } = parts;
  const { loss, stop } = await openAuditHeads(config, admin, log, keepAuditHeadsMs, onAuditLook);
  stack.push('audit heads', stop);
  return loss;
};

/** Starts what there is one of: the database, its keys, the local chain, and whatever writes to the data directory. */
export const startMachine = async (config: Config, parts: Parts): Promise<StartedMachine> => {
  const { log, stack, progress, restored, emptyBlockIntervalMs } = parts;
  const { caPath, ...tls } = await takeMachine(config, stack);
  const storage = await startStorage(config, log, progress);
  const { service } = storage;
  stack.push('database', () => storage.stop());
  const { admin, holder } = await startKeys(config, { storage, log, stack, progress, restored });
  const auditLoss = await watchAuditLogs(config, admin, parts);
  const firstRun = await prepareFirstRun(config, admin);
  const setupToken = await prepareSetupLink(config, admin);
  const { chain, notices } = await startLocalChain(config, { log, db: admin.db, progress, emptyBlockIntervalMs });
  if (chain) stack.push('dev chain', () => chain.stop());
  const epochs = await openEpochs(config, admin, { holder, log, restored });
  const { outdated } = storage.gate;
  return { tls, caPath, service, admin, holder, auditLoss, epochs, chain, firstRun, setupToken, outdated, notices };
};
