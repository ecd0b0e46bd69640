import type { Log } from '../core/log.ts';
import { silentMeter } from '../core/meter.ts';
import type { Network } from '../core/registry/networks.ts';
import type { Context } from '../engine/context.ts';
import type { Metrics } from '../metrics/metrics.ts';
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
import { knownListeners, networksOf } from './compose.ts';
import type { Config } from './config.ts';
import { createContext, type Urls } from './createContext.ts';
import type { Stack } from './stack.ts';
import { type ApiParts, startApi } from './startApi.ts';
import { startDelivering } from './startDelivering.ts';
import type { Machine } from './startMachine.ts';
import { watchedChains } from './watchedChains.ts';

/** What the roles of a process work with. */
export type Desk = {
  readonly context: Context;
  readonly sender: Sender;
  /** Complete once all ports are bound. */
  readonly urls: Urls;
  /** Where this deployment listens. Webhooks must not call it. */
  readonly bound: { address: string; port: number }[];
  readonly ending: AbortController;
};

/**
 * Payments contain the URLs (checkoutUrl). With port 0 these are known only after the listeners are bound, so the context
 * gets them late.
 */
export const openDesk = async (
  config: Config,
  machine: Machine,
  parts: { readonly log: Log; readonly stack: Stack; readonly metrics: Metrics | null; readonly urls?: Urls },
): Promise<Desk> => {
  const { log, stack, metrics, urls = { production: '', sandbox: '', dashboard: '' } } = parts;
  const { admin, service, epochs, chain, auditLoss } = machine;
  const networks = networksOf(config, chain?.rpcUrl ?? null);
  const bound = knownListeners(config, chain?.rpcUrl ?? null);
  const sender = createSender({ ownListeners: () => bound });
  stack.push('webhook sender', () => sender.close());
  const ending = new AbortController();
  const meter = metrics?.meter ?? silentMeter;
  const own = { config, urls, sender, stack, log, meter, ending: ending.signal };
  const context = await createContext({ ...own, admin, service, networks, chain, epochs, auditLoss });
  return { context, sender, urls, bound, ending };
};

const startLoops = (
  config: Config,
  { context, sender }: Desk,
  { chain: local, holder, service }: Machine,
): { loops: Loop[]; localMeasured: Promise<unknown> } => {
  const { roles, alertUrl, retention } = config;
  const loops = [startClockKeeper(context)];
  if (roles.includes('api')) loops.push(startKeyUseKeeper(context));
  if (roles.includes('deliver')) loops.push(startDelivering(context, { sender, holder, service, alertUrl }));
  if (!roles.includes('watch')) return { loops, localMeasured: Promise.resolve() };
  const chains = watchedChains(context.networks.all(), local, context);
  const watchers = startWatchers(context, chains, holder);
  const isLocal = (chain: { networks: readonly Network[] }) =>
    chain.networks.some(({ backing }) => backing === 'devchain');
  loops.push(watchers, startSweeper(context), startFolder(context), startEffectAnnouncer(context));
  loops.push(startPurger(context, retention));
  return { loops, localMeasured: watchers.measured(chains.filter(isLocal).map(({ caip2 }) => caip2)) };
};

/** Does the work of the roles. `keep` starts what a process has to do whatever its roles. */
export const serve = async (
  config: Config,
  machine: Machine,
  desk: Desk,
  parts: Pick<ApiParts, 'access' | 'live' | 'limitBudgetMs' | 'doors' | 'buckets' | 'log' | 'stack'>,
  keep: () => Promise<Loop[]> = async () => [],
): Promise<void> => {
  const { stack } = parts;
  const { context, urls, bound, ending } = desk;
  const { loops, localMeasured } = startLoops(config, desk, machine);
  loops.push(...(await keep()));
  for (const loop of loops) stack.push('background loop', () => loop.stop());
  // Once the start is reported, payments must work.
  await localMeasured;
  if (config.roles.includes('api'))
    await startApi({ ...parts, config, context, tls: machine.tls, urls, bound, ending });
};
