import { randomBytes } from 'node:crypto';
import { environments } from '../core/environment.ts';
import type { Log } from '../core/log.ts';
import { createCallers } from '../engine/access/callers.ts';
import { putDashboardUrl } from '../engine/access/dashboardUrl.ts';
import type { Context } from '../engine/context.ts';
import { createPaymentCreator } from '../engine/payments/createPayment.ts';
import { createCheckoutSite } from '../http/checkout/checkoutRoutes.ts';
import type { LiveLimits } from '../http/checkout/liveCheckouts.ts';
import { allDashboardRoutes } from '../http/dashboard/allRoutes.ts';
import { createDashboardSite } from '../http/dashboard/dashboardSite.ts';
import { iconRoute } from '../http/docs/iconRoute.ts';
import type { ApiRoute } from '../http/edge/route.ts';
import type { ServerTls } from '../http/edge/secureServer.ts';
import { type AccessLine, createRequestHandler } from '../http/edge/server.ts';
import { allApiRoutes } from '../http/v1/allRoutes.ts';
import { createReadinessParts } from '../http/v1/readinessParts.ts';
import { systemRoutes } from '../http/v1/systemRoutes.ts';
import type { RemoteBuckets } from '../limits/sharedLimiter.ts';
import { parseApiKey } from '../vault/apiKeys.ts';
import { isLoopbackHost } from '../webhooks/guard.ts';
import { monotonicMs } from './compose.ts';
import type { Config } from './config.ts';
import type { Urls } from './createContext.ts';
import { drain } from './drain.ts';
import { type Doors, listen, ownDoors, urlsOf } from './listeners.ts';
import type { Stack } from './stack.ts';
import { startLimits } from './startLimits.ts';

/** Unique across processes and restarts, and cheap: a request id is not a secret. */
const createRequestIds = (): (() => string) => {
  const prefix = `req_${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0')}`;
  let count = 0;
  return () => `${prefix}${(++count).toString(36).padStart(6, '0')}`;
};

export type ApiParts = {
  readonly config: Config;
  readonly context: Context;
  readonly tls: ServerTls;
  readonly urls: Urls;
  readonly bound: { address: string; port: number }[];
  readonly access: (line: AccessLine) => void;
  readonly live?: Partial<LiveLimits> | undefined;
  readonly limitBudgetMs?: number | undefined;
  /** Where connections and the counts of rate limits are, if not in this process. */
  readonly doors?: Doors | undefined;
  readonly buckets?: RemoteBuckets | undefined;
  readonly log: Log;
  readonly stack: Stack;
  /** Ends what is sent at once, for example mails. */
  readonly ending: AbortController;
};

/** Serves requests. Fills in the URLs, which are known once the ports are bound. */
export const startApi = async (parts: ApiParts): Promise<void> => {
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
  const { doors = ownDoors(config, log), buckets, live = {}, limitBudgetMs: budgetMs } = parts;
  const { cap } = doors;
  const checkout = createCheckoutSite(context, live, cap.exempt);
  const { vault, meter } = context;
  const limiter = await startLimits(config, { vault, buckets, log, meter, stack, budgetMs });
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
    trustedProxies: config.trustedProxies,
    strictTransport: environment => isStrict[environment],
    access: parts.access,
    requestId,
    log,
  });
  const dashboardUrl = () => (context.dashboard.isAlone ? urls.dashboard : '');
  const edge = { tls, doors, dashboardUrl, requestId, log };
  const { listeners, ports } = await listen(config, server.handler, edge);
  Object.assign(urls, urlsOf(config, ports));
  for (const environment of environments) {
    isStrict[environment] = !isLoopbackHost(new URL(urls[environment]).hostname);
    for (const address of config.hosts) parts.bound.push({ address, port: ports[environment] });
  }
  const { dashboard: port } = ports;
  if (port !== null) parts.bound.push(...config.hosts.map(address => ({ address, port })));
  await putDashboardUrl(context, urls.dashboard);
  stack.push('listeners', async () => {
    isStopping = true;
    // Open pages would keep their connections until the deadline.
    await checkout.stop();
    await Promise.all(listeners.map(listener => listener.close()));
    await server.close();
  });
  // Before the listeners stop: a silent mail server would keep them open, and then the process.
  stack.push('mail that is sent at once', () => parts.ending.abort());
  stack.push('draining', async () => {
    isStopping = true;
    await drain(config.drainSeconds, listeners, checkout.stop);
  });
};
