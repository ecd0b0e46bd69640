import type { Log } from '../core/log.ts';
import type { Context } from '../engine/context.ts';
import { startMetricsListener } from '../http/edge/metricsListener.ts';
import { expositionType, type Family, writeExposition } from '../metrics/exposition.ts';
import type { MeteredChain, Metrics } from '../metrics/metrics.ts';
import type { ConnectionSettings } from '../storage/connect.ts';
import { openDatabase } from '../storage/database.ts';
import { isLoopbackHost } from '../webhooks/guard.ts';
import { readBackupRecord } from './backupRecord.ts';
import { type Config, ConfigError } from './config.ts';
import { readLogArchiveRecord } from './logArchiveRecord.ts';
import { createReadings } from './metricsReadings.ts';
import { openOwnMetrics, poolsOf } from './ownMetrics.ts';
import { portProblem } from './refuseTakenPorts.ts';
import type { Stack } from './stack.ts';
import { meteredChains } from './watchedChains.ts';

/** For each statement. What takes longer is left out of this answer. */
const queryTimeoutMs = 1_000;

/** The name in a Host header, without the port. Null if it is none. */
const hostnameOf = (host: string | undefined): string | null => URL.parse(`http://${host}`)?.hostname ?? null;

/**
 * On loopback, a page in the operator's browser could reach the listener by a name that leads there. So the Host header
 * must be a loopback name. Elsewhere, any name may be right.
 */
const admitting = (hosts: readonly string[]): ((host: string | undefined) => boolean) =>
  hosts.every(isLoopbackHost)
    ? host => {
        const name = hostnameOf(host);
        return name !== null && isLoopbackHost(name);
      }
    : () => true;

type Bound = { address: string; port: number }[];

/** Serves what `own` gives, and what the database says, on a listener of its own. Returns its port. */
export const serveMetrics = async (parts: {
  readonly config: Config;
  readonly service: ConnectionSettings;
  readonly chains: readonly MeteredChain[];
  readonly own: () => Family[] | Promise<Family[]>;
  readonly log: Log;
  readonly stack: Stack;
}): Promise<number> => {
  const { config, service, chains, own, log, stack } = parts;
  const { port, hosts } = config.metrics!;
  const db = openDatabase(service, { log, maxConnections: 2, applicationName: 'florin metrics', queryTimeoutMs });
  stack.push('metrics connection', () => db.close());
  const read = createReadings({
    db,
    chains,
    dataDir: config.dataDir,
    backups: () => readBackupRecord(config),
    async logArchive() {
      const record = await readLogArchiveRecord(config);
      if (record === null) return null;
      // Before the first success, the failure itself counts.
      const until = record.archivedAt ?? record.failing?.since;
      return { until: until ? new Date(until) : null, seconds: record.seconds };
    },
  });
  const write = async (): Promise<string> => writeExposition((await Promise.all([own(), read()])).flat());
  try {
    const listener = await startMetricsListener({
      port,
      hosts,
      admits: admitting(hosts),
      contentType: expositionType,
      write,
      log,
    });
    stack.push('metrics listener', listener.close);
    return listener.port;
  } catch (error) {
    const problem = portProblem(error, port);
    throw problem === null ? error : new ConfigError([problem]);
  }
};

/** Serves the metrics of this process. Returns the port. */
export const startMetrics = async (parts: {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly context: Context;
  readonly service: ConnectionSettings;
  readonly bound: Bound;
  readonly stack: Stack;
}): Promise<number> => {
  const { config, metrics, context, service, bound, stack } = parts;
  const chains = meteredChains(context.networks.all());
  const own = openOwnMetrics(metrics, { pools: poolsOf(context), chains, stack });
  const port = await serveMetrics({ config, service, chains, own, log: context.log, stack });
  bound.push(...config.metrics!.hosts.map(address => ({ address, port })));
  return port;
};
