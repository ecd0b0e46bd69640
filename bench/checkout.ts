import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from './client.ts';
import { cpuSeconds, median, quantile, round } from './figures.ts';
import { requestBytes, runLoad } from './load.ts';
import type { Scene } from './scene.ts';
import { startBare } from './startBare.ts';

const renderTarget = 0.5;
const memoryTargetMiB = 100;
const renderedPages = 500;
/** Florin limits open pages per client address, so these come from several. Linux has all of 127.0.0.0/8. */
const pagesPerAddress = 50;
const settleSeconds = 20;
const updateTargetMs = 1_000;
const [updateCount, updateGapMs] = [200, 50];

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

/** `updated` resolves with the time at which the page is sent again. */
type Opened = { readonly id: string; readonly updated: Promise<number>; close(): void };

const openPage = async (scene: Scene, { id, version }: Page, localAddress: string): Promise<Opened> => {
  const { incoming, close } = await ask(scene, { path: `/checkout/${id}/live?have=${version}`, localAddress });
  if (incoming.statusCode !== 200) throw new Error(`a page was refused with ${incoming.statusCode}`);
  const [connected, updated] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
  incoming.on('data', (chunk: Buffer) => {
    if (chunk.includes('event: ')) connected.resolve();
    if (chunk.includes('event: main')) updated.resolve(performance.now());
  });
  incoming.on('error', () => {});
  await connected.promise;
  return { id, updated: updated.promise, close };
};

/** Headers that Node adds to every answer by itself. */
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

/** Time from the request that cancels a payment until its page is sent again, with all other pages open. */
const benchUpdates = async (scene: Scene, pages: readonly Opened[]): Promise<boolean> => {
  const latencies: number[] = [];
  for (const { id, updated } of pages.slice(0, updateCount)) {
    const sinceMs = performance.now();
    await call(scene, 'POST', `/v1/payments/${id}/cancel`, {});
    latencies.push((await updated) - sinceMs);
    await pause(updateGapMs * Math.random());
  }
  const longest = Math.max(...latencies);
  console.log(
    `checkout updates: change → sent to the open page p50 ${round(median(latencies), 0)} ms, p99 ${round(quantile(latencies, 0.99), 0)} ms, ` +
      `longest ${round(longest, 0)} ms (target ${updateTargetMs})`,
  );
  return longest <= updateTargetMs;
};

/** The memory that open pages add to the process at its peak. Each page is loaded first. */
const benchMemory = async (scene: Scene, count: number): Promise<boolean> => {
  const loaded: Page[] = [];
  for (const id of await makePayments(scene, count)) loaded.push(await loadPage(scene, id));
  await pause(2_000);
  const before = memoryMiB(scene.pid);
  const pages: Opened[] = [];
  for (const [i, page] of loaded.entries()) {
    pages.push(await openPage(scene, page, `127.0.1.${1 + Math.floor(i / pagesPerAddress)}`));
  }
  let peak = 0;
  const startCpu = cpuSeconds([scene.pid]);
  for (let second = 0; second < settleSeconds; second++) {
    peak = Math.max(peak, memoryMiB(scene.pid));
    await pause(1_000);
  }
  const cpu = (cpuSeconds([scene.pid]) - startCpu) / settleSeconds;
  const more = peak - before;
  const isPrompt = await benchUpdates(scene, pages);
  for (const page of pages) page.close();
  console.log(
    `checkout memory: ${count} open pages add ${round(more, 1)} MiB to ${round(before, 1)} (target ${memoryTargetMiB}), ` +
      `${round((more * 1024) / count, 1)} KiB per page; keeping them open takes ${round(cpu * 100, 1)} % of a core`,
  );
  return more < memoryTargetMiB && isPrompt;
};

type Turn = { readonly perSecond: number; readonly micros: number; readonly latenciesMs: readonly number[] };

/**
 * Compares pages over TLS, round by round, with a bare server that sends the same pages with headers of the same
 * length, and with one that sends a single page: its bytes stay in the processor caches, those of 500 pages do not.
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
      `ratio ${round(ratio)} (target ${renderTarget}), ${round(ratioTo(ones))} of a bare server with one page; ` +
      `p50 ${round(median(latencies))} ms, p99 ${round(quantile(latencies, 0.99))} ms, ` +
      `${middle(florins, 'micros')} µs CPU per page, bare ${middle(limits, 'micros')}, bare with one page ${middle(ones, 'micros')}`,
  );
  return ratio >= renderTarget;
};

export const benchCheckout = async (
  scene: Scene,
  options: { rounds: number; seconds: number; pages: number },
): Promise<boolean> => {
  // First, while no memory freed by other work can hide the growth.
  const isSmall = await benchMemory(scene, options.pages);
  // Many short rounds: the speed of a machine varies, and each ratio compares neighbouring measurements.
  const isQuick = await benchRender(scene, { rounds: 4 * options.rounds, seconds: options.seconds / 2 });
  return isSmall && isQuick;
};
