import { randomBytes } from 'node:crypto';
import { callContract, readCode } from '../chains/evm/callContract.ts';
import { createDevPayer } from '../chains/evm/devPayer.ts';
import { estimateGas } from '../chains/evm/estimateGas.ts';
import { type Environment, environments } from '../core/environment.ts';
import type { Log } from '../core/log.ts';
import type { Network } from '../core/registry/networks.ts';
import { createCallers } from '../engine/access/callers.ts';
import { setupUrl } from '../engine/access/createSetupLink.ts';
import { createKeyUses } from '../engine/access/keyUses.ts';
import { createRateLimiter } from '../engine/access/rateLimiter.ts';
import { dashboardUrlName } from '../engine/access/recoveryByMail.ts';
import { createNetworkDirectory } from '../engine/chain/networkDirectory.ts';
import { createRestoreGate, type Declaration } from '../engine/chain/restores.ts';
import type { Context, DashboardSettings, EnvironmentSettings } from '../engine/context.ts';
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
import { systemRoutes } from '../http/v1/systemRoutes.ts';
import { lockDataDirectory } from '../local/dataDirectoryLock.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
import { ensureInstanceId } from '../local/instanceId.ts';
import { createMailer } from '../mail/mailer.ts';
import { openDatabase } from '../storage/database.ts';
import { putDeploymentValue } from '../storage/deployment.ts';
import { parseApiKey } from '../vault/apiKeys.ts';
import { checkWebhookUrl, isLoopbackHost } from '../webhooks/guard.ts';
import { createSender, type Sender } from '../webhooks/send.ts';
import { sendSigned } from '../webhooks/sendSigned.ts';
import type { Loop } from '../workers/loop.ts';
import {
  startClockKeeper,
  startEffectAnnouncer,
  startFolder,
  startKeyUseKeeper,
  startPurger,
  startSweeper,
} from '../workers/sweeper.ts';
import { startWatchers } from '../workers/watcher.ts';
import { openAuditHeads } from './auditHeadsFile.ts';
import { knownListeners, makeDataDir, monotonicMs, networksOf, openAdmin, startStorage, tlsOf } from './compose.ts';
import type { Config } from './config.ts';
import { openIndexes } from './epochFile.ts';
import { type FirstRun, prepareFirstRun, prepareSetupLink } from './firstRun.ts';
import { listen } from './listeners.ts';
import { refuseTakenPorts } from './refuseTakenPorts.ts';
import { createStack, type Stack } from './stack.ts';
import { startDelivering } from './startDelivering.ts';
import { startLocalChain } from './startLocalChain.ts';
import { localCaip2, watchedChains } from './watchedChains.ts';

export type Florin = {
  readonly urls: Readonly<Record<Environment, string>>;
  /** The dashboard's origin. */
  readonly dashboardUrl: string;
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

/** Known once all ports are bound. */
type Urls = Record<Environment | 'dashboard', string>;

/** Shorter intervals for tests, and what the operator declares if the data was restored. */
export type Tuning = {
  readonly live?: Partial<LiveLimits>;
  readonly emptyBlockIntervalMs?: number;
  readonly restored?: Declaration | undefined;
};

/** Unique across processes and restarts, and cheap: a request id is not a secret. */
const createRequestIds = (): (() => string) => {
  const prefix = `req_${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0')}`;
  let count = 0;
  return () => `${prefix}${(++count).toString(36).padStart(6, '0')}`;
};

/** What use cases send at once, while somebody waits for the result. */
const sending = (
  { mail }: Config,
  sender: Sender,
  settings: Readonly<Record<Environment, EnvironmentSettings>>,
): Pick<Context, 'deliver' | 'sendMail'> => ({
  async deliver({ environment, ...webhook }) {
    const { allowLoopback } = settings[environment];
    const { outcome } = await sendSigned(sender, { ...webhook, allowLoopback });
    const { delivered, statusCode, durationMs, error } = outcome;
    return { delivered, statusCode, durationMs, error };
  },
  sendMail: mail && createMailer(mail),
});

/**
 * Starts everything in order, and stops what is running if a step fails. Payments contain the URLs (checkoutUrl). With
 * port 0 these are known only after the listeners are bound, so the context gets them late.
 */
export const startFlorin = async (
  config: Config,
  log: Log,
  access: (line: AccessLine) => void = line => log.info(line, 'request'),
  { live = {}, emptyBlockIntervalMs, restored }: Tuning = {},
): Promise<Florin> => {
  const stack = createStack(log);
  try {
    await makeDataDir(config);
    const lock = lockDataDirectory({ dataDir: config.dataDir });
    stack.push('data directory lock', () => lock.release());
    await refuseTakenPorts(config);
    const tls = await tlsOf(config);
    const storage = await startStorage(config, log);
    stack.push('database', () => storage.stop());
    const admin = await openAdmin(config, storage);
    const holder = await ensureInstanceId(config.dataDir);
    stack.push('audit heads', await openAuditHeads(config, admin, log));
    const firstRun = await prepareFirstRun(config, admin);
    const setupToken = await prepareSetupLink(config, admin);
    const { chain, notices } = await startLocalChain(config, log, admin.db, emptyBlockIntervalMs);
    if (chain) stack.push('dev chain', () => chain.stop());

    const urls: Urls = { production: '', sandbox: '', dashboard: '' };
    const networks = networksOf(config, chain?.rpcUrl ?? null);
    const settings = environmentSettings(config, urls);
    const bound = knownListeners(config, chain?.rpcUrl ?? null);
    const sender = createSender({ ownListeners: () => bound });
    stack.push('webhook sender', () => sender.close());
    const listDb = openDatabase(storage.service, { log, maxConnections: 4, applicationName: 'florin lists' });
    stack.push('list connections', () => listDb.close());
    const context: Context = {
      ...admin,
      listDb,
      networks: createNetworkDirectory(admin.db, networks, monotonicMs),
      localChain: chain && { caip2: localCaip2, ...createDevPayer(chain.rpcUrl) },
      environments: settings,
      dashboard: dashboardSettings(config, urls),
      ...sending(config, sender, settings),
      ...nodeCalls(networks),
      refuseUrl: (url, environment) => checkWebhookUrl(url, settings[environment]),
      derivationIndexes: await openIndexes(config, admin, { holder, log, restored }),
      restoreGate: createRestoreGate(admin.db, monotonicMs),
      keyUses: createKeyUses(admin.db, admin.clock.nowMs),
      log,
    };
    const { loops, localMeasured } = startLoops(config, context, chain, holder);
    if (config.roles.includes('deliver')) {
      loops.push(startDelivering(context, { sender, holder, service: storage.service, alertUrl: config.alertUrl }));
    }
    for (const loop of loops) stack.push('background loop', () => loop.stop());
    // Once the start is reported, payments must work.
    await localMeasured;
    if (config.roles.includes('api')) await startApi({ config, context, tls, urls, bound, access, live, log, stack });
    const { dashboard: dashboardUrl, ...reached } = urls;
    return {
      urls: reached,
      dashboardUrl,
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

const dashboardSettings = ({ dashboard }: Config, urls: Readonly<Urls>): DashboardSettings => ({
  get url() {
    return urls.dashboard;
  },
  isAlone: dashboard.url !== null || dashboard.port !== null,
  mayAddAccounts: dashboard.mayAddAccounts,
});

const rpcUrlsOf = (networks: readonly Network[], caip2: string): string[] => [
  ...new Set(networks.filter(network => network.caip2 === caip2).flatMap(network => network.rpcUrls)),
];

const nodeCalls = (networks: readonly Network[]): Pick<Context, 'estimateGas' | 'callContract' | 'readCode'> => ({
  estimateGas: (caip2, transaction) => estimateGas(rpcUrlsOf(networks, caip2), transaction),
  callContract: (caip2, transaction) => callContract(rpcUrlsOf(networks, caip2), transaction),
  readCode: (caip2, address) => readCode(rpcUrlsOf(networks, caip2), address),
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

const startLoops = (
  config: Config,
  context: Context,
  local: DevChain | null,
  instanceId: string,
): { loops: Loop[]; localMeasured: Promise<unknown> } => {
  const loops = [startClockKeeper(context)];
  if (config.roles.includes('api')) loops.push(startKeyUseKeeper(context));
  if (!config.roles.includes('watch')) return { loops, localMeasured: Promise.resolve() };
  const chains = watchedChains(context.networks.all(), local, context.log);
  const watchers = startWatchers(context, chains, instanceId);
  const isLocal = (chain: { networks: readonly Network[] }) =>
    chain.networks.some(({ backing }) => backing === 'devchain');
  loops.push(watchers, startSweeper(context), startFolder(context), startEffectAnnouncer(context));
  loops.push(startPurger(context, config.deliveryLogDays));
  return { loops, localMeasured: watchers.measured(chains.filter(isLocal).map(({ caip2 }) => caip2)) };
};

const startApi = async (parts: {
  config: Config;
  context: Context;
  tls: { key: string; cert: string };
  urls: Urls;
  bound: { address: string; port: number }[];
  access: (line: AccessLine) => void;
  live: Partial<LiveLimits>;
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
    ),
  ];
  const { connectionsPerAddress: perAddress, trustedProxies } = config;
  const cap = createConnectionCap({ perAddress, trustedProxies, log });
  const checkout = createCheckoutSite(context, parts.live, cap.exempt);
  const limiter = createRateLimiter(monotonicMs);
  const dashboard = createDashboardSite(context, allDashboardRoutes(context, createPayment), limiter);
  const requestId = createRequestIds();
  const isStrict = { production: false, sandbox: false };
  const server = await createRequestHandler({
    routes: [...documented, iconRoute(), ...checkout.routes, ...dashboard.routes],
    headersFor: dashboard.headersFor,
    arrive: dashboard.arrive,
    errorPage: checkout.errorPage,
    callers: createCallers(context.db, monotonicMs),
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
  await putDeploymentValue(context.db, dashboardUrlName, urls.dashboard);
  stack.push('listeners', async () => {
    isStopping = true;
    // Open pages would keep their connections until the deadline.
    await checkout.stop();
    await Promise.all(listeners.map(listener => listener.close()));
    await server.close();
  });
};
