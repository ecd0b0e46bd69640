import type { Environment } from '../core/environment.ts';
import type { Log } from '../core/log.ts';
import { type Progress, silentProgress } from '../core/progress.ts';
import { setupUrl } from '../engine/access/createSetupLink.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import type { LiveLimits } from '../http/checkout/liveCheckouts.ts';
import type { AccessLine } from '../http/edge/server.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { archiveLog } from './archiveLog.ts';
import type { Config, ConfigError } from './config.ts';
import type { FirstRun } from './firstRun.ts';
import { scheduleBackups } from './scheduledBackups.ts';
import { openDesk, serve } from './serve.ts';
import { createStack } from './stack.ts';
import { startMachine } from './startMachine.ts';
import { startMetrics } from './startMetrics.ts';

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
  /** Resolves when this version may no longer use the database: the upgrade to another one is finished. */
  readonly outdated: Promise<void>;
  /** Resolves when a process under this one cannot be replaced until the operator changes something. */
  readonly broken: Promise<ConfigError>;
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

type Logs = { readonly log: Log; readonly access: (line: AccessLine) => void };
const watched = (metrics: Metrics | null, logs: Logs): Logs => metrics?.watch(logs) ?? logs;

/** Starts everything in order in this process, and stops what is running if a step fails. */
export const startFlorin = async (
  config: Config,
  givenLog: Log,
  givenAccess: (line: AccessLine) => void = line => givenLog.info(line, 'request'),
  tuning: Tuning = {},
): Promise<Florin> => {
  const { emptyBlockIntervalMs, keepAuditHeadsMs, restored, progress = silentProgress } = tuning;
  const metrics = config.metrics && createMetrics();
  const { log, access } = watched(metrics, { log: givenLog, access: givenAccess });
  const stack = createStack(log);
  try {
    const given = { log, stack, progress, restored, emptyBlockIntervalMs, keepAuditHeadsMs };
    const machine = await startMachine(config, given);
    const { chain, service, setupToken, caPath, firstRun, notices } = machine;
    const desk = await openDesk(config, machine, { log, stack, metrics });
    const { context, urls, bound } = desk;
    const metricsPort = metrics && (await startMetrics({ config, metrics, context, service, bound, stack }));
    const { live, limitBudgetMs, lookForBackupsMs } = tuning;
    await serve(config, machine, desk, { access, live, limitBudgetMs, log, stack }, async () => [
      ...(await archiveLog(config, context)),
      ...(await scheduleBackups(config, context, lookForBackupsMs)),
    ]);
    const { dashboard: dashboardUrl, ...reached } = urls;
    return {
      urls: reached,
      dashboardUrl,
      metricsPort,
      caPath,
      firstRun,
      setupLink: setupToken && setupUrl(urls.dashboard, setupToken),
      devChainPid: () => chain?.pid() ?? null,
      outdated: machine.outdated,
      broken: new Promise(() => {}),
      notices,
      stop: stack.unwind,
    };
  } catch (error) {
    await stack.unwind();
    throw error;
  }
};
