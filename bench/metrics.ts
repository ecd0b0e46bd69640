import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, closeClient } from './client.ts';
import { median, round } from './figures.ts';
import { requestBytes, runLoad } from './load.ts';
import { type Scene, startScene } from './scene.ts';

const target = 0.98;
const payments = 500;
const scrapeEveryMs = 1_000;

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Reads the metrics each second until it is stopped. Returns how often that succeeded. */
const startScraper = (port: number): (() => Promise<number>) => {
  let count = 0;
  let last: Promise<void> = Promise.resolve();
  const scrape = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    if (!(await answer.text()).includes('florin_database_up 1')) throw new Error('the metrics lack the database');
    count += 1;
  };
  const run = (): void => {
    last = last.then(scrape);
  };
  run();
  const timer = setInterval(run, scrapeEveryMs);
  return async () => {
    clearInterval(timer);
    await last;
    return count;
  };
};

type Side = { readonly perSecond: number; readonly scrapes: number };
type Load = (seconds: number) => Promise<number>;

const loadsOf = async (scene: Scene): Promise<Record<'create' | 'get', Load>> => {
  const body = JSON.stringify({ amount: '12.5', currency: 'USDC', network: 'base' });
  const creation = requestBytes('POST', '/v1/payments', scene.key, body);
  const reads: Buffer[] = [];
  while (reads.length < payments) {
    const { id } = await call(scene, 'POST', '/v1/payments', JSON.parse(body));
    reads.push(requestBytes('GET', `/v1/payments/${id}`, scene.key));
  }
  const loadOf =
    (next: () => Buffer): Load =>
    async seconds => {
      const run = await runLoad({ port: scene.sandboxPort, ca: scene.ca, connections: 64, seconds, next });
      if (run.refused > 0) throw new Error(`${run.refused} requests were refused`);
      return run.perSecond;
    };
  let turn = 0;
  return { create: loadOf(() => creation), get: loadOf(() => reads[turn++ % payments]!) };
};

/** Of one kind of request, side by side. Both go first in turn: a machine slows down and speeds up within seconds. */
const compare = async (
  kind: string,
  options: { rounds: number; seconds: number },
  plain: () => Promise<Side>,
  metered: () => Promise<Side>,
): Promise<boolean> => {
  const ratios: number[] = [];
  const rates: number[] = [];
  let scrapes = 0;
  for (let i = 0; i < options.rounds; i++) {
    const isPlainFirst = i % 2 === 0;
    const first = await (isPlainFirst ? plain() : metered());
    const second = await (isPlainFirst ? metered() : plain());
    const [without, withThem] = isPlainFirst ? [first, second] : [second, first];
    scrapes += withThem.scrapes;
    rates.push(without.perSecond);
    ratios.push(withThem.perSecond / without.perSecond);
    console.log(
      `  ${kind} ${i + 1}: without ${round(without.perSecond, 0)}/s, with ${round(withThem.perSecond, 0)}/s, ratio ${round(ratios.at(-1)!, 3)}`,
    );
  }
  const ratio = median(ratios);
  const noise = (Math.max(...rates) - Math.min(...rates)) / median(rates);
  console.log(
    `metrics, ${kind}: ratio ${round(ratio, 3)} (target ${target}), ${scrapes} scrapes; ` +
      `without ${round(median(rates), 0)}/s, which differs by ${round(noise * 100, 0)} % between rounds`,
  );
  return ratio >= target;
};

/** Compares a Florin that counts and is scraped each second with one that serves no metrics. */
export const benchMetrics = async (scene: Scene, options: { rounds: number; seconds: number }): Promise<boolean> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-metrics-'));
  const port = await freePort();
  const other = await startScene(dataDir, { FLORIN_METRICS_PORT: String(port) });
  try {
    const [without, withThem] = [await loadsOf(scene), await loadsOf(other)];
    const results: boolean[] = [];
    for (const kind of ['create', 'get'] as const) {
      const plain = async (): Promise<Side> => ({ perSecond: await without[kind](options.seconds), scrapes: 0 });
      const metered = async (): Promise<Side> => {
        const stop = startScraper(port);
        const perSecond = await withThem[kind](options.seconds);
        return { perSecond, scrapes: await stop() };
      };
      await without[kind](2);
      await withThem[kind](2);
      results.push(await compare(kind, options, plain, metered));
    }
    return results.every(Boolean);
  } finally {
    closeClient(other);
    await other.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};
