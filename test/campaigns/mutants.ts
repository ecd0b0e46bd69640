import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { allFaults } from './mutants/allFaults.ts';
import { type Fault, misfitOf, testPath } from './mutants/fault.ts';

const usage = `npm run mutants -- [--only TEXT] [--check]

Puts one small fault at a time into a copy of the service and runs the tests that must notice it. The faults guard money,
keys and secrets, and the walls between tenants. They are listed in test/campaigns/mutants.

  --only TEXT  run the faults whose harm, file or tests contain TEXT
  --check      only check that each fault fits the source; takes no time
  --help       show this text

Exit codes: 0 every fault was noticed (or fits); 1 a fault was not noticed; 2 a fault does not fit, or the tests fail
without any fault.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const root = new URL('../../', import.meta.url).pathname;
const notCopied = new Set(['node_modules', '.git', 'data', 'coverage']);

type Report = { testResults: { status: string; assertionResults: { status: string; fullName: string }[] }[] };

/** The name of the first test that fails on this copy; null when all pass. */
const firstFailure = async (copy: string, tests: readonly string[]): Promise<string | null> => {
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // Without the mode, tests tagged `thorough` would be skipped, and what they notice would survive.
  const options = ['run', '--mode=thorough', '--bail=1', '--reporter=json', `--outputFile=${report}`];
  const child = spawn(process.execPath, [vitest, ...options, ...tests.map(testPath)], { cwd: copy, stdio: 'ignore' });
  await new Promise(resolve => child.once('exit', resolve));
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  const failed = testResults.flatMap(file => file.assertionResults).find(test => test.status === 'failed');
  if (failed) return failed.fullName.trim();
  return testResults.some(file => file.status === 'failed') ? 'a file whose tests did not start' : null;
};

const judge = async (copy: string, { file, find, replace, tests }: Fault): Promise<string | null> => {
  const path = join(copy, file);
  const original = await readFile(path, 'utf8');
  await writeFile(
    path,
    original.replace(find, () => replace),
  );
  try {
    return await firstFailure(copy, tests);
  } finally {
    await writeFile(path, original);
  }
};

const makeCopy = async (): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), 'florin-mutants-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
  await cp(root, copy, { recursive: true, filter: source => !notCopied.has(relative(root, source).split('/')[0]!) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
};

/** Answers how many faults nobody noticed; null when the tests fail without a fault. */
const run = async (faults: readonly Fault[]): Promise<number | null> => {
  const copy = await makeCopy();
  console.log(`${faults.length} faults. First, their tests must pass without any fault.`);
  const broken = await firstFailure(copy, [...new Set(faults.flatMap(fault => fault.tests))]);
  if (broken !== null) {
    console.error(`A test fails without any fault: ${broken}`);
    return null;
  }
  let survived = 0;
  for (const [i, fault] of faults.entries()) {
    process.stdout.write(`${String(i + 1).padStart(3)}/${faults.length} ${fault.harm} `);
    const startMs = performance.now();
    const noticed = await judge(copy, fault);
    const seconds = Math.round((performance.now() - startMs) / 1000);
    console.log(noticed === null ? `SURVIVED (${seconds} s), see ${fault.file}` : `caught (${seconds} s): ${noticed}`);
    if (noticed === null) survived++;
  }
  console.log(`${faults.length - survived} caught, ${survived} survived`);
  return survived;
};

const main = async (): Promise<number> => {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const chosen = allFaults.filter(({ harm, file, tests }) => [harm, file, ...tests].join('\n').includes(values.only));
  const misfits = chosen.flatMap(fault => misfitOf(fault) ?? []);
  for (const misfit of misfits) console.error(misfit);
  if (chosen.length === 0) console.error(`No fault contains "${values.only}".`);
  if (misfits.length > 0 || chosen.length === 0) return 2;
  if (values.check) {
    console.log(`${chosen.length} faults fit the source.`);
    return 0;
  }
  const survived = await run(chosen);
  return survived === null ? 2 : Math.min(survived, 1);
};

process.exitCode = await main();
