import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { allFaults } from './mutants/allFaults.ts';
import type { Fault } from './mutants/fault.ts';

const usage = `npm run mutants -- [--only TEXT] [--quick]

Puts one small fault at a time into a copy of the service and runs the suite against it. Every fault must be noticed.
--only runs the faults whose name or file contains TEXT.
--quick runs the tests that are named with each fault, and not the others when those notice nothing.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

const wide = [
  'api',
  'chains',
  'checkout',
  'cli',
  'core',
  'dashboard',
  'deliveries',
  'engine',
  'http',
  'local',
  'storage',
  'vault',
  'watch',
  'workers',
];
const root = new URL('../../', import.meta.url).pathname;
const left = new Set(['node_modules', '.git', 'data']);

type Outcome = { failed: number; first: string };

/** How many tests fail on this copy, and the name of the first. */
const runTests = async (copy: string, files: string[]): Promise<Outcome> => {
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const words = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${report}`,
    ...files,
  ];
  const child = spawn(process.execPath, words, { cwd: copy, stdio: 'ignore' });
  await new Promise(resolve => child.once('exit', resolve));
  const result = JSON.parse(await readFile(report, 'utf8')) as {
    numFailedTests: number;
    numFailedTestSuites: number;
    testResults: { name: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const first = result.testResults.flatMap(file => file.assertionResults).find(test => test.status === 'failed');
  return {
    failed: result.numFailedTests || result.numFailedTestSuites,
    first: first?.fullName.trim() ?? 'a file that did not start',
  };
};

const judge = async (copy: string, fault: Fault): Promise<string | null> => {
  const path = join(copy, fault.file);
  const original = await readFile(path, 'utf8');
  if (original.split(fault.find).length !== 2) throw new Error(`"${fault.name}" does not fit ${fault.file} any more`);
  await writeFile(
    path,
    original.replace(fault.find, () => fault.replace),
  );
  try {
    const expected = await runTests(copy, fault.tests);
    if (expected.failed > 0) return expected.first;
    const whole = values.quick
      ? expected
      : await runTests(
          copy,
          wide.map(folder => `test/${folder}`),
        );
    return whole.failed > 0 ? whole.first : null;
  } finally {
    await writeFile(path, original);
  }
};

const copy = await mkdtemp(join(tmpdir(), 'florin-mutants-'));
await cp(root, copy, { recursive: true, filter: source => !left.has(relative(root, source).split('/')[0]!) });
await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));

const chosen = allFaults.filter(({ name, file }) => `${name}\n${file}`.includes(values.only));
let caught = 0;
try {
  const control = await runTests(copy, [...new Set(chosen.flatMap(fault => fault.tests))]);
  if (control.failed > 0) throw new Error(`the suite fails without any fault: ${control.first}`);
  for (const [i, fault] of chosen.entries()) {
    const noticed = await judge(copy, fault);
    if (noticed !== null) caught++;
    console.log(
      `${String(i + 1).padStart(3)} ${noticed === null ? 'SURVIVED' : 'caught  '} ${fault.name}${noticed === null ? '' : `  ←  ${noticed}`}`,
    );
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}
console.log(`${caught} passed, ${chosen.length - caught} failed`);
process.exitCode = caught === chosen.length ? 0 : 1;
