import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Api, createApi } from './chaos/api.ts';
import { type FlorinProcess, launchFlorin, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import type { Target } from './fuzz/attack.ts';
import { type MemoryRecord, recordMemory } from './fuzz/memory.ts';
import { createTally, runCorpus, showFailure, type Tally } from './fuzz/runCorpus.ts';

const help = `Sends wrong requests, each wrong by construction, to a real Florin over real sockets. Every answer must be a 4xx
in the one form of errors, and afterwards nothing may have changed.

  --requests N       default 60000
  --seed N           default 1
  --concurrency N    requests under way at the same time, default 32
  --only INDEX       sends one request of a seed again
  --help`;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '60000' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '32' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const [requests, seed, concurrency] = [Number(values.requests), Number(values.seed), Number(values.concurrency)];
const only = values.only === undefined ? null : Number(values.only);

const startTimeoutMs = 120_000;
/**
 * The allocator's arenas fill up over the first requests: 181 MiB resident after 10,000, 241 after 20,000, 280 after
 * 30,000 and the same after 60,000. Growth is judged from there on, so a shorter run says nothing of it.
 */
const settledAfter = 30_000;
/** How much more memory the second half may leave resident than the first, in MiB. */
const growthBound = 48;
/** A small heap is collected often, so that growth shows retained memory and not garbage. */
const smallHeap = ['--max-old-space-size=96'];

type Scene = { readonly target: Target; readonly api: Api };

const prepare = async (florin: FlorinProcess, dataDir: string): Promise<Scene> => {
  const ready = await within(florin.ready, startTimeoutMs);
  if (!ready) throw new Error(`Florin was not ready in time:\n${florin.output()}`);
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Fuzz', ...wide]);
  const makeKey = async (...args: string[]): Promise<string> =>
    (await runFlorin(dataDir, ['keys', 'create', '--account', id as string, ...args])).key as string;
  const key = await makeKey();
  const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
  const create = await api.call('POST', '/v1/payments', { body: { amount: '1', currency: 'USDC', network: 'base' } });
  await api.call('POST', `/v1/payments/${create.body.id}/cancel`);
  const endpoint = await api.call('POST', '/v1/webhooks', { body: { url: 'https://receiver.example/' } });
  if (create.status !== 200 || endpoint.status !== 200) throw new Error('the campaign could not be prepared');
  const target = {
    port: Number(new URL(ready.sandboxUrl).port),
    ca: ready.ca,
    key,
    readOnlyKey: await makeKey('--scopes', 'payments:read'),
    productionKey: await makeKey('--environment', 'production'),
    paymentId: create.body.id as string,
    endpointId: endpoint.body.id as string,
  };
  return { target, api };
};

/** All that the account has, as the API tells it. */
const everything = async (api: Api): Promise<string> => {
  const lists = ['/v1/payments', '/v1/webhooks', '/v1/events'].map(path => api.call('GET', path));
  return JSON.stringify((await Promise.all(lists)).map(({ body }) => body));
};

const table = (title: string, counts: ReadonlyMap<string, number>): string =>
  `${title}: ${[...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}`;

const report = (tally: Tally, memory: MemoryRecord): void => {
  for (const [name, { count, failed, slowestMs }] of [...tally.categories].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(
      `  ${name.padEnd(16)} ${String(count).padStart(6)}  failed ${failed}  slowest ${slowestMs.toFixed(0)} ms`,
    );
  }
  console.log(table('statuses', tally.statuses));
  console.log(table('codes', tally.codes));
  const sorted = tally.durationsMs.sort((a, b) => a - b);
  const percentile = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.log(
    `durations (stalled ones apart): p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, slowest ${percentile(1)} ms`,
  );
  console.log(`cut connections, where that is allowed: ${tally.cut}`);
  const shares = [
    [0.2, 0.25],
    [0.45, 0.5],
    [0.7, 0.75],
    [0.95, 1],
  ] as const;
  console.log(
    `resident memory at 25, 50, 75 and 100 %: ${shares.map(([a, b]) => memory.between(a, b).toFixed(0)).join(', ')} MiB`,
  );
};

/** What must hold afterwards; each is one more check. */
const afterwards = async (
  scene: Scene,
  florin: FlorinProcess,
  before: string,
  memory: MemoryRecord,
): Promise<[string, boolean][]> => {
  const alive = (await within(florin.exited, 100)) === null;
  const ready = await scene.api.call('GET', '/readyz').then(
    answer => answer.status === 200,
    () => false,
  );
  const after = await everything(scene.api).catch(() => 'no answer');
  const growth = memory.between(0.95, 1) - memory.between(0.45, 0.5);
  return [
    ['the process is the one that was started', alive],
    ['/readyz answers 200', ready],
    ['payments and endpoints are as before', after === before],
    ...(only === null && requests >= settledAfter * 2
      ? [
          [`memory grew by ${growth.toFixed(0)} MiB from 50 to 100 %, bound ${growthBound}`, growth <= growthBound] as [
            string,
            boolean,
          ],
        ]
      : []),
  ];
};

const main = async (): Promise<number> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-fuzz-'));
  const startedMs = performance.now();
  const florin = launchFlorin(room, smallHeap);
  try {
    const scene = await prepare(florin, room);
    const before = await everything(scene.api);
    const tally = createTally();
    const [first, last] = only === null ? [0, requests] : [only, only + 1];
    const memory = recordMemory(florin.pid, () => (tally.passed + tally.failed) / (last - first));
    await runCorpus(
      { seed, stalls: true, first, last, concurrency: only === null ? concurrency : 1 },
      scene.target,
      tally,
    );
    memory.stop();
    for (const failure of tally.failures) console.log(`seed ${seed} ${showFailure(failure, scene.target)}`);
    report(tally, memory);
    for (const [what, holds] of await afterwards(scene, florin, before, memory)) {
      console.log(`${holds ? 'ok' : 'FAILED'}: ${what}`);
      if (holds) tally.passed++;
      else tally.failed++;
    }
    scene.api.close();
    if (tally.failed > 0) console.log(florin.output().slice(-4_000));
    console.log(`seed ${seed}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
    console.log(`${tally.passed} passed, ${tally.failed} failed`);
    return tally.failed === 0 ? 0 : 1;
  } finally {
    await stopFlorin(florin, room);
    await rm(room, { recursive: true, force: true });
  }
};

if (values.help) console.log(help);
else process.exitCode = await main();
