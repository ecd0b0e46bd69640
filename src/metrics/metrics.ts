import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import { createCounter, createCounters, createHistogram, type Histogram } from './counters.ts';
import type { Family, Sample } from './exposition.ts';
import { familyOf, gauge } from './metricTable.ts';

/** A chain with its name for people, and how many nodes this process asks about it. */
export type MeteredChain = { readonly caip2: string; readonly network: string; readonly nodes: number };

/** The part of an access log entry that is counted. */
export type ServedRequest = {
  readonly environment: string;
  readonly method: string;
  /** The pattern; null if no route matched. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
};

type Logs<L> = { readonly log: Log; readonly access: (line: L) => void };

const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128];
const attemptResults = ['succeeded', 'retry', 'parked'] as const;

/**
 * The durations of requests, by route, method, class and environment. Looking them up one after the other takes a third
 * of the time of a key that is put together from all four. A path that no route matches is never a label: anybody can ask
 * for any number of them. Neither is its method.
 */
const createRequests = () => {
  const all: Histogram[] = [];
  const routes = new Map<string, Map<string, Histogram[]>>();
  const slotsOf = (route: string, method: string): Histogram[] => {
    const methods = routes.get(route) ?? new Map<string, Histogram[]>();
    const slots = methods.get(method) ?? [];
    routes.set(route, methods.set(method, slots));
    return slots;
  };
  return {
    observe({ environment, method: asked, route, status, durationMs }: ServedRequest): void {
      const [pattern, method] = route === null ? ['unmatched', 'other'] : [route, asked];
      const slots = routes.get(pattern)?.get(method) ?? slotsOf(pattern, method);
      const kind = (status / 100) | 0;
      const slot = kind * 2 + (environment === 'production' ? 1 : 0);
      let histogram = slots[slot];
      if (histogram === undefined) {
        histogram = createHistogram(durationBounds, { environment, method, route: pattern, status: `${kind}xx` });
        slots[slot] = histogram;
        all.push(histogram);
      }
      histogram.observe(durationMs / 1000);
    },
    samples: (): Sample[] => all.flatMap(each => each.samples()),
  };
};

/** What a process counts. All of it are numbers in memory: a request costs a look into a map and a few additions. */
export const createMetrics = () => {
  const requests = createRequests();
  const batches = createHistogram(batchBounds);
  const attempts = createCounters();
  const faults = createCounters();
  const seals = createCounter();
  const countedAlone = createCounter();
  let isShared: boolean | null = null;
  const networks = new Map<string, string>();
  const faultOf = (caip2: string, node: number) =>
    [`${caip2} ${node}`, { chain: caip2, network: networks.get(caip2) ?? '', node: String(node + 1) }] as const;

  const meter: Meter = {
    createBatch: payments => batches.observe(payments),
    deliveryAttempt: result => attempts.add(result, { result }),
    rpcFault: (caip2, node) => faults.add(...faultOf(caip2, node)),
    limitsShared(now) {
      isShared = now;
    },
    limitCountedAlone: () => countedAlone.add(),
  };
  return {
    meter,
    /** Names the chains. Series begin at zero: one that begins with its first count shows no increase to Prometheus. */
    startSeries(chains: readonly MeteredChain[]): void {
      for (const result of attemptResults) attempts.start(result, { result });
      for (const { caip2, network, nodes } of chains) {
        networks.set(caip2, network);
        for (let node = 0; node < nodes; node++) faults.start(...faultOf(caip2, node));
      }
    },
    /** Counts what is logged: requests, and the errors about records that do not match their seals. */
    watch: <L extends ServedRequest>(logs: Logs<L>): Logs<L> => ({
      log: {
        debug: (fields, message) => logs.log.debug(fields, message),
        info: (fields, message) => logs.log.info(fields, message),
        warn: (fields, message) => logs.log.warn(fields, message),
        error(fields, message) {
          if ('forged' in fields) seals.add();
          logs.log.error(fields, message);
        },
      },
      access(line) {
        requests.observe(line);
        logs.access(line);
      },
    }),
    families: (): Family[] => [
      familyOf('florin_http_request_duration_seconds', requests.samples()),
      familyOf('florin_create_batch_payments', batches.samples()),
      familyOf('florin_rpc_faults_total', faults.samples()),
      familyOf('florin_delivery_attempts_total', attempts.samples()),
      familyOf('florin_seals_refused_total', seals.samples()),
      gauge('florin_limits_shared', isShared === null ? null : Number(isShared)),
      familyOf('florin_limits_counted_alone_total', countedAlone.samples()),
    ],
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
