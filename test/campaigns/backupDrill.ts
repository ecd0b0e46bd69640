import { parseArgs } from 'node:util';
import type { Scene } from '../../bench/scene.ts';
import { seed } from '../../bench/seed.ts';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { runDrill } from './backupDrill/drill.ts';
import { seedEvents } from './backupDrill/seedEvents.ts';
import type { Site } from './backupDrill/site.ts';
import { createRandom } from './fuzz/random.ts';

const help = `Backs up a running Florin under load, restores the backup elsewhere and starts it. Flipped bits, wrong passphrases, kills
in the middle and full disks must all be noticed. Archives the log meanwhile, and restores a second before a table was
dropped. Prints sizes, seconds, and the rate of creates with and without a backup, which must be at least 0.8 of it.

  --payments N  written before the backup, default 100000
  --more N      created by each restored Florin, default 10000
  --rounds N    backups under load, in turns with load alone, default 3
  --seconds N   of load alone in each round, default 10
  --flips N     default 12
  --seed N      default 1
  --help`;

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '100000' },
    more: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    flips: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

/** Of the rate of creates without a backup. */
const leastShare = 0.8;

/** The API makes a few hundred a second. */
const mostByApi = 2_000;

const seedSite = async (site: Site, payments: number): Promise<void> => {
  const { dataDir, accountId } = site;
  const superuser = (await findSuperuser({ dataDir }))!;
  await seed({ dataDir, superuser } as Scene, accountId, payments);
  await seedEvents(site, superuser);
  console.log(`${payments} events are written`);
};

const main = async (): Promise<void> => {
  const payments = Number(values.payments);
  const checks = await runDrill({
    payments,
    more: Number(values.more),
    rounds: Number(values.rounds),
    secondsEach: Number(values.seconds),
    leastShare,
    flips: Number(values.flips),
    withLog: true,
    random: createRandom(`backup drill ${values.seed}`),
    seed: payments > mostByApi ? seedSite : null,
    tell: text => console.log(text),
  });
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`${checks.length - failed} passed, ${failed} failed (seed ${values.seed})`);
  process.exitCode = failed === 0 ? 0 : 1;
};

if (values.help) console.log(help);
else await main();
