import { parseArgs } from 'node:util';
import { runForge } from './forge/forgeRun.ts';

const help = `Changes the database of a real Florin as somebody who can write to it: every table and column, one act at a time.
Each must be refused, be found by florin doctor, or be listed in SECURITY.md with its reason. None may redirect a payment,
get an event signed, or show an unpaid payment as paid.

Every act is done as a superuser with triggers and foreign keys off, which is more than the owner of the tables can do.
Before that it is tried as the service's own role, with triggers and foreign keys, in a transaction that is taken back: the
report says how many acts that role could do. Columns are read from the database, so one that is added later is tried by
itself.

  --tables A,B   only these tables
  --rows N       rows of each table, default 1
  --sample N     only so many acts, chosen by the seed
  --seed N       default 1
  --rooms N      Florins at a time, each with its own database, default 3
  --verbose      a line for each act
  --help`;

const { values } = parseArgs({
  options: {
    tables: { type: 'string' },
    rows: { type: 'string', default: '1' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    rooms: { type: 'string', default: '3' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const main = async (): Promise<number> => {
  let done = 0;
  const startedMs = performance.now();
  const { counts, asService, emptyTables, notNeeded } = await runForge({
    tables: values.tables?.split(',') ?? null,
    rows: Number(values.rows),
    sample: values.sample === undefined ? null : Number(values.sample),
    seed: values.seed,
    rooms: Number(values.rooms),
    tell: line => console.log(line),
    judged(forgery, { outcome, why, asService: { isAllowed } }) {
      const line = `${outcome.padEnd(8)}${forgery.name} (${forgery.kind}): ${why}`;
      if (outcome === 'FAILED' || values.verbose) console.log(isAllowed ? `${line} [also as the service]` : line);
      if (++done % 100 === 0) console.log(`${done} done`);
    },
  });
  const { FAILED: failed, ...others } = counts;
  const passed = counts.refused + counts.found + counts.listed;
  console.log(
    Object.entries(others)
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
  );
  console.log(`acts that the service's own role could do: ${asService}`);
  console.log(`tables without rows: ${emptyTables.join(', ') || 'none'}`);
  const isWhole = values.tables === undefined && values.sample === undefined;
  if (isWhole) console.log(`listed in SECURITY.md and not needed: ${notNeeded.join(', ') || 'nothing'}`);
  console.log(
    `${passed} passed, ${failed} failed, in ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`,
  );
  return failed + (isWhole ? notNeeded.length : 0) === 0 ? 0 : 1;
};

if (values.help) console.log(help);
else process.exitCode = await main();
