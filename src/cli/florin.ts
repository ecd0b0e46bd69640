import { randomBytes } from 'node:crypto';
import { type Environment, environments } from '../core/environment.ts';
import type { Log } from '../core/log.ts';
import { silentMeter } from '../core/meter.ts';
import { type Progress, silentProgress } from '../core/progress.ts';
import type { Network } from '../core/registry/networks.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { createCallers } from '../engine/access/callers.ts';
import { setupUrl } from '../engine/access/createSetupLink.ts';
import { putDashboardUrl } from '../engine/access/dashboardUrl.ts';
import type { AuditLoss } from '../engine/chain/restoreGate.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import type { Context } from '../engine/context.ts';
import { createPaymentCreator } from '../engine/payments/createPayment.ts';
import { createCheckoutSite } from '../http/checkout/checkoutRoutes.ts';
import type { LiveLimits } from '../http/checkout/liveCheckouts.ts';
import { allDashboardRoutes } from '../http/dashboard/allRoutes.ts';
import { createDashboardSite } from '../http/dashboard/dashboardSite.ts';
import { iconRoute } from '../http/docs/iconRoute.ts';
import { createConnectionCap } from '../http/edge/connectionCap.ts';
import type { ApiRoute } from '../http/edge/route.ts';
import { type AccessLine, createRequestHandler } from '../http/edge/server.ts';
import { allApiRoutes } from '../http/v1/allRoutes.ts';
import { createReadinessParts } from '../http/v1/readinessParts.ts';
import { systemRoutes } from '../http/v1/systemRoutes.ts';
import { lockDataDirectory } from '../local/dataDirectoryLock.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import type { ConnectionSettings } from '../storage/database.ts';
import { parseApiKey } from '../vault/apiKeys.ts';
import { isLoopbackHost } from '../webhooks/guard.ts';
import { createSender, type Sender } from '../webhooks/send.ts';
import type { Loop } from '../workers/loop.ts';
import { startPurger } from '../workers/purger.ts';
import {
  startClockKeeper,
  startEffectAnnouncer,
  startFolder,
  startKeyUseKeeper,
  startSweeper,
} from '../workers/sweeper.ts';
import { startWatchers } from '../workers/watcher.ts';
import { archiveLog } from './archiveLog.ts';
import { openAuditHeads } from './auditHeadsFile.ts';
import { knownListeners, makeDataDir, monotonicMs, networksOf, startStorage, tlsOf } from './compose.ts';
import type { Config } from './config.ts';
import { createContext, type Urls } from './createContext.ts';
import { type FirstRun, prepareFirstRun, prepareSetupLink } from './firstRun.ts';
import { listen } from './listeners.ts';
import { refuseTakenPorts } from './refuseTakenPorts.ts';
import { scheduleBackups } from './scheduledBackups.ts';
import { createStack, type Stack } from './stack.ts';
import { startDelivering } from './startDelivering.ts';
import { startKeys } from './startKeys.ts';
import { startLimits } from './startLimits.ts';
import { startLocalChain } from './startLocalChain.ts';
import { startMetrics } from './startMetrics.ts';
import { watchedChains } from './watchedChains.ts';

export type Florin = {
  readonly urls: Readonly<Record<Environment, string>>;
  /** The dashboard's origin. */
  readonly dashboardUrl: string;
  /** Where metrics are served; null if they are not. */
  readonly metricsPort: number | null;
  readonly caPath: string | null;
  readonly firstRun: FirstRun | null;
  /** Creates the first owner; null if there is one. A secret. */
  readonly setupLink: string | null;
  /** The process id of the local chain, if it runs. */
  readonly devChainPid: () => number | null;
  /** Messages for the operator. */
  readonly notices: readonly string[];
  stop(): Promise<void>;
};

/** Shorter intervals for tests, what the operator declares if the data was restored, and who is told of long steps. */
export type Tuning = {
  readonly live?: Partial<LiveLimits>;
  readonly emptyBlockIntervalMs?: number;
  readonly restored?: Declaration | undefined;
  readonly lookForBackupsMs?: number | undefined;
  readonly progress?: Progress;
  readonly keepAuditHeadsMs?: number | undefined;
  readonly limitBudgetMs?: number | undefined;
};

/** Unique across processes and restarts, and cheap: a request id is not a secret. */
const createRequestIds = (): (() => string) => {
  const prefix = `req_${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0')}`;
  let count = 0;
  return () => `${prefix}${(++count).toString(36).padStart(6, '0')}`;
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
const watchAuditLogs = async (
  config: Config,
  parts: { admin: AdminContext; log: Log; stack: Stack; everyMs: number | undefined },
): Promise<() => AuditLoss> => {
  const { admin, log, stack, everyMs } = parts;
  const { loss, stop } = await openAuditHeads(config, admin, log, everyMs);
  stack.push('audit heads', stop);
  return loss;
};

type Logs = { readonly log: Log; readonly access: (line: AccessLine) => void };
const watched = (metrics: Metrics | null, logs: Logs): Logs => metrics?.watch(logs) ?? logs;

/**
 * Starts everything in order, and stops what is running if a step fails. Payments contain the URLs (checkoutUrl). With
 * port 0 these are known only after the listeners are bound, so the context gets them late.
 */
export const startFlorin = async (
  config: Config,
  givenLog: Log,
  givenAccess: (line: AccessLine) => void = line => givenLog.info(line, 'request'),
  tuning: Tuning = {},
): Promise<Florin> => {
  const { emptyBlockIntervalMs, restored, progress = silentProgress } = tuning;
  const metrics = config.metrics && createMetrics();
  const { log, access } = watched(metrics, { log: givenLog, access: givenAccess });
  const stack = createStack(log);
  try {
    const tls = await takeMachine(config, stack);
    const storage = await startStorage(config, log, progress);
    const { service } = storage;
    stack.push('database', () => storage.stop());
    const { admin, holder } = await startKeys(config, { storage, log, stack, progress, restored });
    const auditLoss = await watchAuditLogs(config, { admin, log, stack, everyMs: tuning.keepAuditHeadsMs });
    const firstRun = await prepareFirstRun(config, admin);
    const setupToken = await prepareSetupLink(config, admin);
    const { chain, notices } = await startLocalChain(config, { log, db: admin.db, progress, emptyBlockIntervalMs });
    if (chain) stack.push('dev chain', () => chain.stop());

    const urls: Urls = { production: '', sandbox: '', dashboard: '' };
    const networks = networksOf(config, chain?.rpcUrl ?? null);
    const bound = knownListeners(config, chain?.rpcUrl ?? null);
    const sender = createSender({ ownListeners: () => bound });
    stack.push('webhook sender', () => sender.close());
    const ending = new AbortController();
    const context = await createContext({
      config,
      admin,
      service,
      networks,
      chain,
      urls,
      sender,
      stack,
      log,
      meter: metrics?.meter ?? silentMeter,
      holder,
      restored,
      auditLoss,
      ending: ending.signal,
    });
    const metricsPort = metrics && (await startMetrics({ config, metrics, context, service, bound, stack }));
    const { loops, localMeasured } = startLoops(config, context, chain, holder);
    loops.push(...(await startOutgoing(config, context, { sender, holder, service, lookMs: tuning.lookForBackupsMs })));
    for (const loop of loops) stack.push('background loop', () => loop.stop());
    // Once the start is reported, payments must work.
    await localMeasured;
    if (config.roles.includes('api')) await startApi({ config, context, tls, urls, bound, access, tuning, log, stack });
    // The first step of a stop: a silent mail server would keep the listeners open, and then the process.
    stack.push('mail that is sent at once', () => ending.abort());
    const { dashboard: dashboardUrl, ...reached } = urls;
    return {
      urls: reached,
      dashboardUrl,
      metricsPort,
      caPath: tls.caPath,
      firstRun,
      setupLink: setupToken && setupUrl(urls.dashboard, setupToken),
      devChainPid: () => chain?.pid() ?? null,
      notices,
      stop: stack.unwind,
    };
  } catch (error) {
    await stack.unwind();
    throw error;
  }
};

/** What leaves this process: deliveries, alerts, mails, the log of the database and backups. */
const startOutgoing = async (
  config: Config,
  context: Context,
  parts: { sender: Sender; holder: string; service: ConnectionSettings; lookMs: number | undefined },
): Promise<Loop[]> => {
  const { sender, holder, service, lookMs } = parts;
  const delivers = config.roles.includes('deliver');
  const sending = delivers ? [startDelivering(context, { sender, holder, service, alertUrl: config.alertUrl })] : [];
  const archiving = await archiveLog(config, context);
  return [...sending, ...archiving, ...(await scheduleBackups(config, context, lookMs))];
};

const startLoops = (
  config: Config,
  context: Context,
  local: DevChain | null,
  instanceId: string,
): { loops: Loop[]; localMeasured: Promise<unknown> } => {
  const loops = [startClockKeeper(context)];
  if (config.roles.includes('api')) loops.push(startKeyUseKeeper(context));
  if (!config.roles.includes('watch')) return { loops, localMeasured: Promise.resolve() };
  const chains = watchedChains(context.networks.all(), local, context);
  const watchers = startWatchers(context, chains, instanceId);
  const isLocal = (chain: { networks: readonly Network[] }) =>
    chain.networks.some(({ backing }) => backing === 'devchain');
  loops.push(watchers, startSweeper(context), startFolder(context), startEffectAnnouncer(context));
  loops.push(startPurger(context, config.retention));
  return { loops, localMeasured: watchers.measured(chains.filter(isLocal).map(({ caip2 }) => caip2)) };
};

const startApi = async (parts: {
  config: Config;
  context: Context;
  tls: { key: string; cert: string };
  urls: Urls;
  bound: { address: string; port: number }[];
  access: (line: AccessLine) => void;
  tuning: Tuning;
  log: Log;
  stack: Stack;
}): Promise<void> => {
  const { config, context, tls, urls, log, stack } = parts;
  let isStopping = false;
  const createPayment = createPaymentCreator(context);
  const documented: ApiRoute[] = [
    ...allApiRoutes(context, createPayment),
    ...systemRoutes(
      context.db,
      () => documented,
      () => isStopping,
      environment => urls[environment],
      createReadinessParts(context, monotonicMs),
    ),
  ];
  const { connectionsPerAddress: perAddress, trustedProxies } = config;
  const cap = createConnectionCap({ perAddress, trustedProxies, log });
  const { live = {}, limitBudgetMs: budgetMs } = parts.tuning;
  const checkout = createCheckoutSite(context, live, cap.exempt);
  const deployment = context.vault.deploymentName();
  const limiter = startLimits(config, { deployment, log, meter: context.meter, stack, budgetMs });
  const dashboard = createDashboardSite(context, allDashboardRoutes(context, createPayment), limiter);
  const requestId = createRequestIds();
  const isStrict = { production: false, sandbox: false };
  const server = await createRequestHandler({
    routes: [...documented, iconRoute(), ...checkout.routes, ...dashboard.routes],
    headersFor: dashboard.headersFor,
    arrive: dashboard.arrive,
    errorPage: checkout.errorPage,
    callers: createCallers(context, monotonicMs),
    limiter,
    parseKey: parseApiKey,
    nowMs: context.clock.nowMs,
    publicUrl: environment => urls[environment],
    noteUse: context.keyUses.note,
    trustedProxies,
    strictTransport: environment => isStrict[environment],
    access: parts.access,
    requestId,
    log,
  });
  const dashboardUrl = () => (context.dashboard.isAlone ? urls.dashboard : '');
  const edge = { tls, admit: cap.admit, dashboardUrl, requestId, log };
  const { listeners, ports } = await listen(config, server.handler, edge);
  for (const environment of environments) {
    urls[environment] = config.publicUrls[environment] ?? `https://localhost:${ports[environment]}`;
    isStrict[environment] = !isLoopbackHost(new URL(urls[environment]).hostname);
    for (const address of config.hosts) parts.bound.push({ address, port: ports[environment] });
  }
  const { dashboard: port } = ports;
  urls.dashboard = config.dashboard.url ?? (port === null ? urls.production : `https://localhost:${port}`);
  if (port !== null) parts.bound.push(...config.hosts.map(address => ({ address, port })));
  await putDashboardUrl(context, urls.dashboard);
  stack.push('listeners', async () => {
    isStopping = true;
    // Open pages would keep their connections until the deadline.
    await checkout.stop();
    await Promise.all(listeners.map(listener => listener.close()));
    await server.close();
  });
};
