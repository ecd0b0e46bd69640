import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from './client.ts';
import { cpuSeconds, median, quantile, round } from './figures.ts';
import { requestBytes, runLoad } from './load.ts';
import type { Scene } from './scene.ts';
import { startBare } from './startBare.ts';

const renderBar = 0.5;
const memoryBarMiB = 100;
const renderedPages = 500;
/** Florin takes so many open pages of one address, so that these come from several. Linux has all of 127.0.0.0/8. */
const pagesAnAddress = 50;
const settleSeconds = 20;
const newsBarMs = 1_000;
const [newsCount, newsGapMs] = [200, 50];

const makePayments = async (scene: Scene, count: number): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < count) {
    const { id } = await call(scene, 'POST', '/v1/payments', { amount: '12.5', currency: 'USDC', network: 'base' });
    ids.push(id as string);
  }
  return ids;
};

const memoryMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

type Ask = { readonly path: string; readonly localAddress: string };

const ask = (scene: Scene, { path, localAddress }: Ask): Promise<{ incoming: IncomingMessage; close(): void }> =>
  new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      servername: 'localhost',
      port: scene.sandboxPort,
      ca: scene.ca,
      agent: false,
      localAddress,
      path,
      headers: { host: 'localhost', authorization: `Bearer ${scene.key}` },
    };
    const sent = request(options, incoming => resolve({ incoming, close: () => sent.destroy() }));
    sent.once('error', reject);
    sent.end();
  });

type Page = { readonly id: string; readonly version: string };

/** `told` settles, with the time, when the page is sent anew. */
type Opened = { readonly id: string; readonly told: Promise<number>; close(): void };

const openPage = async (scene: Scene, { id, version }: Page, localAddress: string): Promise<Opened> => {
  const { incoming, close } = await ask(scene, { path: `/checkout/${id}/live?have=${version}`, localAddress });
  if (incoming.statusCode !== 200) throw new Error(`a page was refused with ${incoming.statusCode}`);
  const [begun, told] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
  incoming.on('data', (chunk: Buffer) => {
    if (chunk.includes('event: ')) begun.resolve();
    if (chunk.includes('event: main')) told.resolve(performance.now());
  });
  incoming.on('error', () => {});
  await begun.promise;
  return { id, told: told.promise, close };
};

/** What Node writes into every head by itself. */
const ownHeaders = new Set(['connection', 'content-length', 'date', 'keep-alive']);

type Answer = { readonly headers: Record<string, string>; readonly body: string };

const readPage = async (scene: Scene, id: string): Promise<Answer> => {
  const { incoming } = await ask(scene, { path: `/checkout/${id}`, localAddress: '127.0.0.1' });
  if (incoming.statusCode !== 200) throw new Error(`a page was refused with ${incoming.statusCode}`);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = Object.entries(incoming.headers).filter(([name]) => !ownHeaders.has(name)) as [string, string][];
  return { headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString() };
};

const loadPage = async (scene: Scene, id: string): Promise<Page> => {
  const page = (await readPage(scene, id)).body;
  return { id, version: / data-version="([^"]+)"/.exec(page)![1]! };
};

/** From before a payment is called off to its page's being sent anew, with all the others open beside it. */
const benchNews = async (scene: Scene, pages: readonly Opened[]): Promise<boolean> => {
  const latencies: number[] = [];
  for (const { id, told } of pages.slice(0, newsCount)) {
    const sinceMs = performance.now();
    await call(scene, 'POST', `/v1/payments/${id}/cancel`, {});
    latencies.push((await told) - sinceMs);
    await pause(newsGapMs * Math.random());
  }
  const most = Math.max(...latencies);
  console.log(
    `checkout news: change → sent to its open page p50 ${round(median(latencies), 0)} ms, p99 ${round(quantile(latencies, 0.99), 0)} ms, ` +
      `at most ${round(most, 0)} ms (bar ${newsBarMs})`,
  );
  return most <= newsBarMs;
};

/** What open pages take of the process that serves them, at most, while it looks after them; first each is loaded. */
const benchMemory = async (scene: Scene, count: number): Promise<boolean> => {
  const loaded: Page[] = [];
  for (const id of await makePayments(scene, count)) loaded.push(await loadPage(scene, id));
  await pause(2_000);
  const before = memoryMiB(scene.pid);
  const pages: Opened[] = [];
  for (const [i, page] of loaded.entries()) {
    pages.push(await openPage(scene, page, `127.0.1.${1 + Math.floor(i / pagesAnAddress)}`));
  }
  let most = 0;
  const startCpu = cpuSeconds([scene.pid]);
  for (let second = 0; second < settleSeconds; second++) {
    most = Math.max(most, memoryMiB(scene.pid));
    await pause(1_000);
  }
  const cpu = (cpuSeconds([scene.pid]) - startCpu) / settleSeconds;
  const more = most - before;
  const isPrompt = await benchNews(scene, pages);
  for (const page of pages) page.close();
  console.log(
    `checkout memory: ${count} open pages take ${round(more, 1)} MiB more than ${round(before, 1)} (bar ${memoryBarMiB}), ` +
      `${round((more * 1024) / count, 1)} KiB a page; looking after them ${round(cpu * 100, 1)} % of a core`,
  );
  return more < memoryBarMiB && isPrompt;
};

type Turn = { readonly perSecond: number; readonly micros: number; readonly latenciesMs: readonly number[] };

/**
 * Pages over TLS against a bare server that answers each request with the same page under a head as long, turn by turn; and
 * against one that answers one of these pages to all: its bytes never leave the processor's caches, while 500 pages do.
 */
const benchRender = async (scene: Scene, options: { rounds: number; seconds: number }): Promise<boolean> => {
  const ids = await makePayments(scene, renderedPages);
  const requests = ids.map(id => requestBytes('GET', `/checkout/${id}`, scene.key));
  const pages: Record<string, string> = {};
  for (const id of ids) pages[`/checkout/${id}`] = (await readPage(scene, id)).body;
  const { headers, body } = await readPage(scene, ids[0]!);
  const bare = await startBare(scene, pages, headers);
  const bareOne = await startBare(scene, body, headers);
  let turn = 0;
  const next = (): Buffer => requests[turn++ % renderedPages]!;
  const load = (port: number, seconds: number) => runLoad({ port, ca: scene.ca, connections: 64, seconds, next });
  const sides = [
    { ...bare, turns: [] as Turn[] },
    { pid: scene.pid, port: scene.sandboxPort, turns: [] as Turn[] },
    { ...bareOne, turns: [] as Turn[] },
  ] as const;
  for (const { port } of sides) await load(port, 2);
  for (let i = 0; i < options.rounds; i++) {
    for (const { pid, port, turns } of sides) {
      const before = cpuSeconds([pid]);
      const { answered, refused, perSecond, latenciesMs } = await load(port, options.seconds);
      if (refused > 0) throw new Error(`${refused} pages were refused`);
      turns.push({ perSecond, micros: ((cpuSeconds([pid]) - before) * 1e6) / answered, latenciesMs });
    }
    const [limit, florin, one] = sides.map(({ turns }) => round(turns.at(-1)!.perSecond, 0));
    console.log(`  round ${i + 1}: florin ${florin}/s, bare ${limit}/s, bare with one page ${one}/s`);
  }
  bare.stop();
  bareOne.stop();
  const [limits, florins, ones] = sides.map(({ turns }) => turns) as [Turn[], Turn[], Turn[]];
  const ratioTo = (others: Turn[]): number => median(florins.map((each, i) => each.perSecond / others[i]!.perSecond));
  const middle = (turns: Turn[], of: 'perSecond' | 'micros'): number => round(median(turns.map(each => each[of])), 0);
  const latencies = florins.flatMap(({ latenciesMs }) => latenciesMs);
  const ratio = ratioTo(limits);
  console.log(
    `checkout render: ${middle(florins, 'perSecond')}/s of ${Buffer.byteLength(body)} bytes over TLS, bare node:https ${middle(limits, 'perSecond')}/s, ` +
      `ratio ${round(ratio)} (bar ${renderBar}), ${round(ratioTo(ones))} of one that has one page; ` +
      `p50 ${round(median(latencies))} ms, p99 ${round(quantile(latencies, 0.99))} ms, ` +
      `${middle(florins, 'micros')} µs CPU a page, bare ${middle(limits, 'micros')}, ${middle(ones, 'micros')}`,
  );
  return ratio >= renderBar;
};

export const benchCheckout = async (
  scene: Scene,
  options: { rounds: number; seconds: number; pages: number },
): Promise<boolean> => {
  // While the process has no room yet that was left by other work.
  const isSmall = await benchMemory(scene, options.pages);
  // Many short turns: the machine is seldom the same for long, and each ratio is of three turns side by side.
  const isQuick = await benchRender(scene, { rounds: 4 * options.rounds, seconds: options.seconds / 2 });
  return isSmall && isQuick;
};
