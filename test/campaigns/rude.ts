import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from './chaos/api.ts';
import { launchFlorin, type Ready, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import { recordMemory } from './fuzz/memory.ts';
import type { Target } from './rude/crowd.ts';
import type { CrowdOrder, CrowdReport, CrowdStart } from './rude/crowdProcess.ts';
import { createVisitor, percentile, type Visit } from './rude/visitor.ts';

const help = `Sends a crowd of rude clients from 127.0.0.1 to a Florin: idle ones, slow ones that send a byte now and then (before
TLS, in the handshake, in headers, in bodies), and greedy ones that ask for streams, lists and exports and never read. A
client at 127.0.0.2 makes requests meanwhile. Rounds without and with the crowd take turns. It passes if every request of
that client is answered, if the median of its p99 with the crowd is at most twice that without, if the log of Florin says
that clients which do not read were cut off, and if the resident memory of Florin grows by at most 256 MiB: 256 connections
of about 100 KiB, eight unread answers of up to 400 KiB for each of 50 clients, and what the heap grows by itself.

  --idle N       default 400
  --slow N       default 400
  --greedy N     default 50
  --rounds N     of each kind, default 5
  --seconds N    of a round, default 40, because a client that does not read is cut off after 30
  --payments N   in the lists and exports, default 20000
  --seed N       default 1
  --help`;

const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '400' },
    slow: { type: 'string', default: '400' },
    greedy: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '40' },
    payments: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const size = { idle: Number(values.idle), slow: Number(values.slow), greedy: Number(values.greedy) };
const [rounds, seconds, payments] = [Number(values.rounds), Number(values.seconds), Number(values.payments)];

const readyTimeoutMs = 90_000;
/** So that the first of the crowd are cut off and come back while the round is measured. */
const settleMs = 2_000;
const longestRatio = 2;
const growthBoundMib = 256;
const description = 'x'.repeat(900);

/** Signs up the owner with the setup link. Returns the cookie of the session. */
const signUp = async ({ ca }: Ready, link: string): Promise<string> => {
  const { origin, hash } = new URL(link);
  const body = { token: hash.slice(1), name: 'Ann', email: 'ann@example.com', password: 'a quiet river at noon' };
  const headers = { origin, 'content-type': 'application/json' };
  const asked = request(`${origin}/dashboard/api/setup`, { method: 'POST', ca, headers, agent: false });
  asked.end(JSON.stringify(body));
  const [incoming] = await once(asked, 'response');
  incoming.resume();
  const [cookie] = (incoming.headers['set-cookie'] as string[] | undefined) ?? [];
  if (cookie === undefined) throw new Error(`the set-up was answered with ${incoming.statusCode}`);
  return cookie.split(';', 1)[0]!;
};

const prepare = async (dataDir: string, ready: Ready): Promise<Target> => {
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Campaign', ...wide]);
  const key = String((await runFlorin(dataDir, ['keys', 'create', '--account', String(id)])).key);
  const { link } = await runFlorin(dataDir, ['setup-link', '--account', String(id)]);
  const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
  const body = { amount: '25.00', currency: 'USDC', network: 'base', description };
  const made: string[] = [];
  const create = async (): Promise<void> => {
    while (made.length < payments) made.push(String((await api.call('POST', '/v1/payments', { body })).body.id));
  };
  await Promise.all(Array.from({ length: 8 }, create));
  api.close();
  return { ...ready, key, paymentId: made[0]!, cookie: await signUp(ready, String(link)) };
};

const startCrowd = (target: Target) => {
  const child = fork(new URL('./rude/crowdProcess.ts', import.meta.url), [], { execArgv: [] });
  child.send({ target, size, seed: `rude ${values.seed}` } satisfies CrowdStart);
  return {
    async order(order: CrowdOrder): Promise<CrowdReport> {
      const done = once(child, 'message');
      child.send(order);
      const [report] = (await done) as [CrowdReport];
      return report;
    },
    /** For the end of a run that failed. */
    end: () => void child.kill(),
  };
};

const median = (numbers: readonly number[]): number =>
  percentile(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );

const report = (name: string, visits: readonly Visit[]): { p99Ms: number; failed: number } => {
  const [p50Ms, p99Ms] = [median(visits.map(visit => visit.p50Ms)), median(visits.map(visit => visit.p99Ms))];
  const failed = visits.reduce((sum, visit) => sum + visit.failed, 0);
  const requests = visits.reduce((sum, visit) => sum + visit.requests, 0);
  console.log(
    `${name}: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (medians of ${visits.length} rounds), ${requests} requests, ${failed} failed`,
  );
  return { p99Ms, failed };
};

const run = async (dataDir: string): Promise<number> => {
  const florin = launchFlorin(dataDir);
  let crowd: ReturnType<typeof startCrowd> | null = null;
  try {
    const ready = await within(florin.ready, readyTimeoutMs);
    if (!ready) throw new Error(`Florin was not ready within ${readyTimeoutMs} ms:\n${florin.output()}`);
    const target = await prepare(dataDir, ready);
    crowd = startCrowd(target);
    const visitor = createVisitor(target);
    await visitor.visit({ seconds: Math.min(seconds, 5) });
    /** 0 before the crowd first comes, 1 while a round is measured beside it, 2 after it left for good. */
    let phase = 0;
    const memory = recordMemory(florin.pid, () => phase);
    const [alone, beside]: [Visit[], Visit[]] = [[], []];
    let wasCutOff = false;
    for (let round = 1; round <= rounds; round++) {
      alone.push(await visitor.visit({ seconds }));
      phase = 0.5;
      await crowd.order('come');
      await pause(settleMs);
      phase = 1;
      beside.push(await visitor.visit({ seconds }));
      phase = 0.5;
      // The output is the end of what was written, so it is looked at in each round.
      wasCutOff ||= florin.output().includes('a client did not read its answer and was disconnected');
      const { opened, closed, open } = await crowd.order('leave');
      await pause(settleMs);
      console.log(
        `round ${round}: ${opened} connections of the crowd so far, ${closed} cut off, ${open} open at its end`,
      );
    }
    phase = 2;
    await pause(settleMs);
    memory.stop();
    visitor.close();
    await crowd.order('end');
    const [before, during, after] = [memory.between(0, 0), memory.between(1, 1), memory.between(2, 2)];
    console.log(
      `resident memory (medians): ${before.toFixed(0)} MiB before, ${during.toFixed(0)} MiB beside the crowd, ${after.toFixed(0)} MiB after`,
    );
    const [quiet, crowded] = [report('alone ', alone), report('beside', beside)];
    const ratio = crowded.p99Ms / quiet.p99Ms;
    const checks: [string, boolean][] = [
      ['every request of the polite client was answered', quiet.failed + crowded.failed === 0],
      [`p99 beside is ${ratio.toFixed(2)} times that alone, bound ${longestRatio}`, ratio <= longestRatio],
      [
        `memory grew by ${(during - before).toFixed(0)} MiB, bound ${growthBoundMib}`,
        during - before <= growthBoundMib,
      ],
      ['clients that did not read were cut off', wasCutOff],
      ['the process is the one that was started', (await within(florin.exited, 100)) === null],
    ];
    for (const [what, isRight] of checks) console.log(`${isRight ? 'ok    ' : 'FAILED'} ${what}`);
    console.log(`seed ${values.seed}`);
    return checks.filter(([, isRight]) => !isRight).length;
  } finally {
    crowd?.end();
    await stopFlorin(florin, dataDir);
  }
};

if (values.help) console.log(help);
else {
  const room = await mkdtemp(join(tmpdir(), 'florin-rude-'));
  try {
    process.exitCode = (await run(room)) === 0 ? 0 : 1;
  } finally {
    await rm(room, { recursive: true, force: true, maxRetries: 5 });
  }
  process.exit();
}
