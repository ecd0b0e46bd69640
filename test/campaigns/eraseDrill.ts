import { parseArgs } from 'node:util';
import { runEraseDrill } from './eraseDrill/drill.ts';
import { createRandom } from './fuzz/random.ts';

const help = `Creates payments with texts in every field, with events, deliveries and kept answers, and erases them with florin erase.
Then no text may be left in any table, in the planner's samples, in what the API shows, in logs, in the files of the data
directory, or in a backup made later; and nothing else may have changed.

  --payments N  default 1000
  --seed N      default 1
  --help`;

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const main = async (): Promise<void> => {
  const startedMs = performance.now();
  const checks = await runEraseDrill({
    payments: Number(values.payments),
    random: createRandom(`erase drill ${values.seed}`),
    tell: text => console.log(text),
  });
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  console.log(`${checks.length - failed} passed, ${failed} failed (seed ${values.seed}, ${seconds} s)`);
  process.exitCode = failed === 0 ? 0 : 1;
};

if (values.help) console.log(help);
else await main();
