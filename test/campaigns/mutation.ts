import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `npm run mutation -- [FILE ...]

Changes src/core in every small way that Stryker knows, one at a time, and runs the tests that exercise it without a
database. Prints the changes that no test noticed, and the score: the share that was noticed. A FILE limits it to files or
globs such as src/core/money.ts or 'src/core/payment/**'. All of src/core takes about an hour on two cores.

  --help  show this text

The report is coverage/mutation/report.html. Stryker needs Node 22 or newer, so it is not installed with the rest: the
first run installs it in node_modules/.cache.

Exit codes: 0 the score is high enough; 1 it is not, or the tests fail without a change. The least score is in
test/campaigns/mutation/stryker.config.mjs.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', default: false } },
});

const root = new URL('../../', import.meta.url).pathname;
const settings = join(root, 'test/campaigns/mutation');
const room = join(root, 'node_modules/.cache/mutation');
const lockfile = 'package-lock.json';

const run = (command: string, words: readonly string[], cwd: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', code => resolve(code ?? 1));
  });

const isInstalled = (): boolean => {
  const [wanted, there] = [join(settings, lockfile), join(room, lockfile)];
  return existsSync(join(room, 'node_modules')) && existsSync(there) && sameText(wanted, there);
};
const sameText = (one: string, other: string): boolean => readFileSync(one, 'utf8') === readFileSync(other, 'utf8');

/** Below node_modules, from where it finds the vitest of this tree; `legacy-peer-deps` keeps npm from adding another. */
const install = async (): Promise<number> => {
  mkdirSync(room, { recursive: true });
  for (const name of ['package.json', lockfile]) cpSync(join(settings, name), join(room, name));
  return run('npm', ['ci', '--prefix', room, '--legacy-peer-deps', '--no-audit', '--no-fund'], room);
};

const main = async (): Promise<number> => {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (Number.parseInt(process.versions.node, 10) < 22) {
    console.error('Stryker needs Node 22 or newer. On Linux, `npm run mutation` runs on the Node 24 of this tree.');
    return 1;
  }
  if (!isInstalled()) {
    const failed = await install();
    if (failed) return failed;
  }
  const stryker = join(room, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const chosen = positionals.length > 0 ? ['--mutate', positionals.join(',')] : [];
  return run(process.execPath, [stryker, 'run', join(settings, 'stryker.config.mjs'), ...chosen], root);
};

process.exitCode = await main();
