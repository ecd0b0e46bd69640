import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from './fuzz/random.ts';
import { judge, planFaults, runFault, spend } from './limitsFaults/limitsFaultsRun.ts';
import { startProcesses } from './limitsFaults/processes.ts';

const help = `Starts two API processes over one database and one Redis or Valkey. First, an account that asks both as fast as it
can must get what one bucket gives, no more and no less. Then Redis is killed and started again, stopped (SIGSTOP) and continued,
and emptied, under load. No answer may be other than 200 and 429, an account below its limit must get 200 only, each process
must say in its log and metrics that it counts alone, and from one second after the return on, both together must again allow
what one bucket gives.

  --requests N   of the first part, default 10000
  --faults N     default 12
  --seed N       decides order and length of the faults, default 1
  --help`;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    faults: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [requests, count, seed] = [values.requests, values.faults, values.seed].map(Number) as [number, number, number];

const steady = { perMinute: 600, burst: 400 };
/** Longer than three requests wait. */
const shortestAwayMs = 1_500;
const longestAwayMs = 5_000;
const aloneText = 'rate limits are counted in this process alone';

const run = async (room: string): Promise<string[]> => {
  await using stack = new AsyncDisposableStack();
  const random = createRandom(`limits ${seed}`);
  const awayMs = (): number => shortestAwayMs + random.below(longestAwayMs - shortestAwayMs);
  const { outputs, ...world } = await startProcesses(room, awayMs, stack);
  const spent = await spend(world.doors, await world.account(steady), requests);
  const problems = judge(steady, spent).map(problem => `without a fault: ${problem}`);
  const alone = await Promise.all(world.doors.map(door => door.figures()));
  console.log(
    `${requests} requests in ${(spent.elapsedMs / 1000).toFixed(1)} s: ${spent.statuses.get(200)} accepted, ${alone.map(({ countedAlone }) => countedAlone).join(' and ')} counted alone`,
  );
  for (const [place, fault] of planFaults(count, random).entries()) {
    const found = await runFault(world, fault);
    console.log(`${place + 1}. ${fault}: ${found.length === 0 ? 'ok' : 'FAILED'}`);
    problems.push(...found);
  }
  for (const output of outputs) {
    const times = output().split(aloneText).length - 1;
    if (times === 0) problems.push('the log of a process does not say that it counts alone');
    console.log(`the log says ${times} times that limits are counted alone`);
  }
  return problems;
};

if (values.help) console.log(help);
else {
  const room = await mkdtemp(join(tmpdir(), 'florin-limits-'));
  try {
    const problems = await run(room);
    for (const problem of problems) console.error(problem);
    console.log(problems.length === 0 ? `the limit held (seed ${seed})` : `FAILED (seed ${seed})`);
    process.exitCode = problems.length === 0 ? 0 : 1;
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}
