import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { Progress } from '../../core/progress.ts';
import { setupUrl } from '../../engine/access/createSetupLink.ts';
import type { Declaration } from '../../engine/chain/restores.ts';
import { createLocalLimiter } from '../../limits/localLimiter.ts';
import { decideAll } from '../../limits/turnBuckets.ts';
import { type Family, labelled, merged } from '../../metrics/exposition.ts';
import { createMetrics, type Metrics } from '../../metrics/metrics.ts';
import { familyOf } from '../../metrics/metricTable.ts';
import { startClockKeeper } from '../../workers/sweeper.ts';
import { archiveLog } from '../archiveLog.ts';
import type { AuditLook } from '../auditHeadsFile.ts';
import { monotonicMs, networksOf } from '../compose.ts';
import type { Config } from '../config.ts';
import type { Florin } from '../florin.ts';
import { type Ports, urlsOf } from '../listeners.ts';
import { openOwnMetrics } from '../ownMetrics.ts';
import { scheduleBackups } from '../scheduledBackups.ts';
import { createStack, type Stack } from '../stack.ts';
import { type StartedMachine, startMachine } from '../startMachine.ts';
import { serveMetrics } from '../startMetrics.ts';
import { meteredChains } from '../watchedChains.ts';
import { type Care, createCrew } from './crew.ts';
import { createDealer, type Dealer, type FrontDoors, longestSettleMs, openFrontDoors } from './frontDoors.ts';
import { readInstalled } from './installed.ts';
import type { Begin, Part, Post, ToChild, Wish } from './messages.ts';

/** The processes of a machine: some for requests, and one for each other role. */
export const partsOf = ({ processes, roles }: Pick<Config, 'processes' | 'roles'>): Part[] => [
  ...Array.from({ length: processes! }, (_, at): Part => ({ name: `api-${at + 1}`, roles: ['api'] })),
  ...(['watch', 'deliver'] as const).filter(role => roles.includes(role)).map(role => ({ name: role, roles: [role] })),
];

/** As Node wants them. */
const ticketKeyBytes = 48;

const isForRequests = ({ roles }: Part): boolean => roles.includes('api');

type Parts = {
  readonly log: Log;
  /** Writes lines of the logs of other processes. */
  readonly write: (lines: string) => void;
  readonly restored: Declaration | undefined;
  readonly progress: Progress;
  /** For tests, on machines that are busy with other things. */
  readonly limitBudgetMs?: number;
};

/** What the supervisor does for its processes while they run. */
const createCare = (machine: StartedMachine, dealer: Dealer): ((part: Part, post: Post<ToChild>) => Care) => {
  const { epochs } = machine;
  const limiter = createLocalLimiter(monotonicMs);
  const fulfil: Readonly<Record<Wish, () => Promise<unknown>>> = { epoch: epochs.take, lookForRestore: epochs.look };
  return (part, post) => {
    let taker: ReturnType<Dealer['enter']> | null = null;
    return {
      ready() {
        if (isForRequests(part)) taker = dealer.enter(post);
      },
      ended: () => taker?.leave(),
      heard(message) {
        if (message.kind === 'connections') taker?.tell(message.news);
        if (message.kind === 'questions') {
          void decideAll(limiter, message.questions).then(decisions => post({ kind: 'decisions', decisions }));
        }
        if (message.kind === 'ask') {
          const { id, wish } = message;
          fulfil[wish]().then(
            value => post({ kind: 'answer', id, value, error: null }),
            (error: unknown) => post({ kind: 'answer', id, value: null, error: String(error) }),
          );
        }
      },
    };
  };
};

type Crew = ReturnType<typeof createCrew>;

/** One exposition for all processes. What a process counts has its name; what the database says is there once. */
const measureAll = async (own: () => Family[], crew: Crew): Promise<Family[]> => {
  const children = await crew.measure();
  const isUp = children.map(({ name, families }) => ({
    labels: { process: name },
    value: Number(families !== null),
  }));
  const named = children.flatMap(({ name, families }) => labelled(families ?? [], { process: name }));
  return [...merged([...labelled(own(), { process: 'supervisor' }), ...named]), familyOf('florin_process_up', isUp)];
};

const boundConfig = (config: Config, ports: Ports, metricsPort: number | null): Config => ({
  ...config,
  ports: { production: ports.production, sandbox: ports.sandbox },
  dashboard: { ...config.dashboard, port: ports.dashboard },
  drainSeconds: drainsLonger(config.drainSeconds),
  metrics: config.metrics && { ...config.metrics, port: metricsPort! },
});

/** Processes drain a little longer than the supervisor accepts connections, so that they serve also the last of them. */
const drainsLonger = (seconds: number): number => (seconds === 0 ? 0 : seconds + longestSettleMs / 1_000);

const stopServing = async (crew: Crew, doors: FrontDoors, drainMs: number): Promise<void> => {
  if (drainMs === 0) await doors.settle();
  const stopped = crew.stop(isForRequests);
  // While they send their clients elsewhere, they serve those that come all the same.
  if (drainMs > 0) {
    await pause(drainMs);
    await doors.settle();
  }
  doors.close();
  await stopped;
};

/** The loops that the supervisor runs itself: what belongs to the data directory. */
const startOwnLoops = async (config: Config, machine: StartedMachine, log: Log, stack: Stack): Promise<void> => {
  const context = { ...machine.admin, log };
  const loops = [startClockKeeper(context), ...(await archiveLog(config, context))];
  loops.push(...(await scheduleBackups(config, context, undefined)));
  for (const loop of loops) stack.push('background loop', () => loop.stop());
};

/** Starts what there is one of in this process, and the rest in others, which it supervises. */
export const startProcesses = async (config: Config, parts: Parts): Promise<Florin> => {
  const { log: everyLine, write, restored, progress, limitBudgetMs } = parts;
  const metrics: Metrics | null = config.metrics && createMetrics();
  const { log } = metrics?.watch({ log: everyLine, access: () => {} }) ?? { log: everyLine };
  const stack = createStack(log);
  let look: AuditLook = { loss: { gateAt: '', accounts: new Set() }, isRestored: false };
  let crew: Crew | null = null;
  const onAuditLook = (found: AuditLook): void => {
    look = found;
    crew?.tell({ kind: 'audit', look });
  };
  try {
    // First, because it has to be what this process has loaded.
    const installed = await readInstalled();
    const machine = await startMachine(config, { log, stack, progress, restored, onAuditLook });
    const { admin, service, chain, holder, caPath, firstRun, setupToken, notices } = machine;
    const dealer = createDealer(config, log);
    const doors = await openFrontDoors(config, dealer, log);
    stack.push('ports', doors.close);
    const urls = urlsOf(config, doors.ports);
    const chainUrl = chain?.rpcUrl ?? null;
    await startOwnLoops(config, machine, log, stack);
    let measure = async (): Promise<Family[]> => [];
    const chains = meteredChains(networksOf(config, chainUrl));
    const metricsPort = metrics && (await serveMetrics({ config, service, chains, own: () => measure(), log, stack }));
    const tls = { ...machine.tls, ticketKeys: randomBytes(ticketKeyBytes) };
    const common = { kind: 'begin', installed, tls, service, holder, chainUrl, urls, limitBudgetMs } as const;
    const bound = boundConfig(config, doors.ports, metricsPort);
    const hired = createCrew({
      parts: partsOf(config),
      begin: ({ name, roles }): Begin => ({ ...common, name, config: { ...bound, roles }, auditLoss: look.loss }),
      care: createCare(machine, dealer),
      write,
      drainMs: bound.drainSeconds * 1_000,
      log,
    });
    crew = hired;
    await hired.start();
    if (metrics) {
      const own = openOwnMetrics(metrics, { pools: { main: admin.db }, chains: [], stack });
      measure = () => measureAll(own, hired);
    }
    stack.push('other processes', () => hired.stop(part => !isForRequests(part)));
    stack.push('processes for requests', () => stopServing(hired, doors, config.drainSeconds * 1_000));
    const { dashboard: dashboardUrl, ...reached } = urls;
    return {
      urls: reached,
      dashboardUrl,
      metricsPort,
      caPath,
      firstRun,
      setupLink: setupToken && setupUrl(dashboardUrl, setupToken),
      devChainPid: () => chain?.pid() ?? null,
      outdated: machine.outdated,
      broken: hired.broken,
      notices,
      stop: stack.unwind,
    };
  } catch (error) {
    await stack.unwind();
    throw error;
  }
};
