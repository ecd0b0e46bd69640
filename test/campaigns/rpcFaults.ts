import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Slug } from '../../src/core/registry/backings.ts';
import type { Faults } from '../chains/faultProxy.ts';
import { type Api, createApi } from './chaos/api.ts';
import { type FlorinProcess, launchFlorin, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import type { Check } from './chaos/verify.ts';
import { createRandom, type Random } from './fuzz/random.ts';
import { compareAll } from './rpcFaults/compare.ts';
import { createMerchant, type Merchant } from './rpcFaults/merchant.ts';
import { countFaults, startWorld, type World } from './rpcFaults/world.ts';

const usage = `npm run rpc-faults -- [--answers N] [--seed N] [--payments N]

Lets a whole Florin read real chains through several nodes each, all of which answer wrongly now and then: old heads, logs
and receipts that are missing, ranges that are cut, bloom filters emptied so that missing logs do not show, forged
headers, balances that are left out, refusals, silence, garbage, branches of their own. Two of the chains go through a
fork with headers in a format that Florin does not know. Meanwhile payments are paid exactly, in parts, too little and too
much, half of the native coin by contracts, and the chains reorganise above their finality. Nothing may be
completed that is not final; and once N answers were faulty and the faults stop, all must be as the chains say.
The seed decides what is paid and drawn; how it interleaves is up to the machine.
--payments bounds how many are asked for (default 1500).

The campaign must fail without the checks that it is about: with \`hasHash\` in src/chains/evm/headerHash.ts always
true, transfers are "only on the chain".`;

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    payments: { type: 'string', default: '1500' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const [wanted, payments, { seed }] = [Number(values.answers), Number(values.payments), values];

/**
 * Nodes per chain, and whether it goes through a fork that Florin does not know. A faulty node backs off for a while, so
 * more nodes make the campaign faster.
 */
const nodes: readonly (readonly [Slug, number, boolean])[] = [
  ['arbitrum', 2, false],
  ['optimism', 3, true],
  ['ethereum', 16, false],
  ['polygon', 16, false],
  ['base', 16, true],
  ['avalanche', 16, false],
];
const readyTimeoutMs = 120_000;
const convergeTimeoutMs = 240_000;
const [blockMs, orderMs, auditMs] = [800, 400, 300];

const faults: Faults = {
  limited: 0.004,
  serverError: 0.02,
  silence: 0.0003,
  cutConnection: 0.01,
  malformed: 0.015,
  noBatches: 0.01,
  staleHead: 0.5,
  emptyLogs: 0.15,
  clampedRange: 0.3,
  truncatedLogs: 0.15,
  nullReceipt: 0.1,
  nullBlock: 0.03,
  wrongChain: 0.03,
  alteredReceipts: 0.2,
  emptiedBloom: 0.02,
  forgedHeader: 0.01,
  droppedBalance: 0.2,
  fork: 0.4,
};

/** Until the signal ends it, at an even pace. What fails is the campaign's failure. */
const repeat = async (everyMs: number, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> => {
  while (!signal.aborted) {
    await work();
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
};

const rage = async (worlds: readonly World[], merchant: Merchant, random: Random): Promise<void> => {
  const over = new AbortController();
  const faulty = (): number => worlds.reduce((sum, world) => sum + world.faulty(), 0);
  let told = 0;
  const watchOver = async (): Promise<void> => {
    const completed = await merchant.audit();
    if (faulty() >= wanted) over.abort();
    if (faulty() < told + wanted / 20) return;
    told = faulty();
    console.log(`${told} faulty answers, ${merchant.orders.size} payments, ${completed} completed`);
  };
  for (const world of worlds) world.set(faults);
  await Promise.all([
    ...worlds.map(world => repeat(blockMs, over.signal, () => world.step(random))),
    repeat(orderMs, over.signal, async () => {
      if (merchant.orders.size < payments) await merchant.order(random);
    }),
    repeat(auditMs, over.signal, watchOver),
  ]);
  for (const world of worlds) world.set({});
};

/** Compares until all is equal; after the bound, what still differs is the answer. */
const converge = async (dataDir: string, worlds: readonly World[], merchant: Merchant): Promise<Check[]> => {
  const orders = [...merchant.orders.values()];
  const startedMs = performance.now();
  for (;;) {
    await merchant.audit();
    const checks = await compareAll(dataDir, worlds, orders);
    const takenMs = performance.now() - startedMs;
    if (checks.every(({ problems }) => problems.length === 0)) {
      console.log(`all equal ${(takenMs / 1000).toFixed(0)} s after the last fault`);
      return checks;
    }
    if (takenMs > convergeTimeoutMs) return checks;
    await pause(2_000);
  }
};

const enrol = async (dataDir: string, florin: FlorinProcess): Promise<Api> => {
  const ready = await within(florin.ready, readyTimeoutMs);
  if (!ready) throw new Error(`Florin was not ready within ${readyTimeoutMs} ms:\n${florin.output()}`);
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Faults', ...wide]);
  const { key } = await runFlorin(dataDir, ['keys', 'create', '--account', id as string]);
  return createApi({ url: ready.sandboxUrl, ca: ready.ca, key: key as string });
};

const report = (worlds: readonly World[], merchant: Merchant, startedMs: number): void => {
  const { kinds, answers } = countFaults(worlds);
  for (const [kind, count] of [...kinds].sort(([a], [b]) => a.localeCompare(b))) console.log(`  ${kind} ${count}`);
  const faulty = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const reorgs = worlds.reduce((sum, world) => sum + world.reorgs(), 0);
  console.log(`${faulty} faulty answers of ${answers}, ${merchant.orders.size} payments, ${reorgs} reorgs`);
  console.log(`${merchant.refused()} creations refused while a network was down`);
  console.log(`seed ${seed}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
};

const main = async (): Promise<number> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-rpc-faults-'));
  const dataDir = join(room, 'data');
  const random = createRandom(`rpc faults ${seed}`);
  const startedMs = performance.now();
  const worlds: World[] = [];
  let florin: FlorinProcess | null = null;
  try {
    for (const [slug, count, isForked] of nodes) worlds.push(await startWorld(slug, { seed, count, isForked }));
    const networks = worlds.map(({ slug, proxies }) => [slug, { rpcUrls: proxies.map(({ url }) => url) }]);
    await mkdir(dataDir);
    await writeFile(
      join(room, 'florin.config.json'),
      JSON.stringify({ networks: { sandbox: Object.fromEntries(networks) } }),
    );
    // The file is looked for where Florin is started.
    process.chdir(room);
    florin = launchFlorin(dataDir);
    const api = await enrol(dataDir, florin);
    const merchant = createMerchant(api, worlds);
    await rage(worlds, merchant, random);
    for (const world of worlds) await world.settle();
    const checks = [
      ...(await converge(dataDir, worlds, merchant)),
      { what: 'nothing was completed that was not final', problems: merchant.outrages },
      // Without payments all is equal, too.
      { what: 'payments were created', problems: merchant.orders.size === 0 ? ['none was'] : [] },
    ];
    api.close();
    report(worlds, merchant, startedMs);
    for (const { what, problems } of checks) {
      console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
      for (const problem of problems.slice(0, 10)) console.log(`    ${problem}`);
    }
    const failed = checks.filter(({ problems }) => problems.length > 0).length;
    if (failed > 0) console.log(florin.output().slice(-2_000));
    console.log(`${checks.length - failed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    if (florin) await stopFlorin(florin, dataDir);
    for (const world of worlds) world.close();
    process.chdir(tmpdir());
    await rm(room, { recursive: true, force: true, maxRetries: 5 });
  }
};

process.exitCode = await main();
// The chains keep threads of their own alive.
process.exit();
