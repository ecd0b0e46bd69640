import { Agent, request } from 'node:https';
import type { Target } from './crowd.ts';

/** Another address than that of the crowd. */
export const visitorAddress = '127.0.0.2';

export type Visit = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  readonly failed: number;
};

export type Visitor = {
  /** Asks without a pause until the time is over, or until it has asked so often. */
  visit(until: { readonly seconds?: number; readonly requests?: number }): Promise<Visit>;
  close(): void;
};

const callers = 4;
const timeoutMs = 30_000;

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** A client as it should be: reads its payment, its newest payments and its page, and waits for each answer. */
export const createVisitor = ({ sandboxUrl, ca, key, paymentId }: Target): Visitor => {
  const { port } = new URL(sandboxUrl);
  const agent = new Agent({ ca, keepAlive: true, maxSockets: callers });
  const paths = [`/v1/payments/${paymentId}`, '/v1/payments?limit=10', `/checkout/${paymentId}`, '/v1/networks'];
  const ask = (path: string): Promise<boolean> =>
    new Promise(resolve => {
      const options = { host: '127.0.0.1', port, path, agent, servername: 'localhost', timeout: timeoutMs };
      const headers = { host: `localhost:${port}`, authorization: `Bearer ${key}` };
      const asked = request({ ...options, localAddress: visitorAddress, headers }, incoming => {
        incoming.resume();
        incoming.once('error', () => resolve(false));
        incoming.once('end', () => resolve(incoming.statusCode === 200));
      });
      asked.once('timeout', () => asked.destroy());
      asked.once('error', () => resolve(false));
      asked.end();
    });
  return {
    async visit({ seconds = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY }) {
      const endMs = performance.now() + seconds * 1000;
      const durationsMs: number[] = [];
      let asked = 0;
      let failed = 0;
      const call = async (): Promise<void> => {
        while (performance.now() < endMs && asked < requests) {
          const path = paths[asked++ % paths.length]!;
          const startedMs = performance.now();
          if (!(await ask(path))) failed += 1;
          durationsMs.push(performance.now() - startedMs);
        }
      };
      await Promise.all(Array.from({ length: callers }, call));
      durationsMs.sort((a, b) => a - b);
      const [p50Ms, p99Ms] = [percentile(durationsMs, 0.5), percentile(durationsMs, 0.99)];
      return { p50Ms, p99Ms, requests: durationsMs.length, failed };
    },
    close: () => agent.destroy(),
  };
};
