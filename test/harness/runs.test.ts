// @module-tag thorough
import { existsSync } from 'node:fs';
import { access, chmod, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { memoryDisk, roomPrefix } from '../support/global.ts';
import { processesBelow } from '../support/processesBelow.mjs';
import { eventually } from '../support/until.ts';
import { startRun } from './nestedRun.ts';

const fixtures = ['--config', 'test/harness/fixtures/vitest.config.ts'];
const sameServer = () => ({ TEST_DATABASE_URL: inject('adminUrl') });
/** Folders of runs whose databases are in memory. */
const foldersInMemory = async () =>
  (await readdir(memoryDisk).catch(() => []))
    .filter(name => name.startsWith(roomPrefix))
    .map(name => join(memoryDisk, name));
const noBrowser = { PATH: '/nonexistent', CHROMIUM_PATH: '' };

describe('without a browser', () => {
  test('tests of pages are skipped, the run is green, and its last lines say how to get one', async () => {
    const run = startRun(['test/browser/checkoutQr.test.ts'], { ...sameServer(), ...noBrowser });
    const { code, output } = await run.ended;
    expect(output).toMatch(/Skipped: \d+ tests of pages in 1 file\. They need Chromium, Chrome or Edge\./);
    expect(output.trimEnd().split('\n').at(-1)).toMatch(/^Get one with: \S+/);
    expect(code).toBe(0);
  });

  test('a run of everything refuses to skip them', async () => {
    const { code, output } = await startRun(['--mode', 'all', 'test/core/money.test.ts'], noBrowser).ended;
    expect(output).toContain('test:all needs Chromium, Chrome or Edge');
    expect(code).not.toBe(0);
  });
});

test('a set-up that throws half-way says why once, takes down what it started, and fails its own file alone', {
  timeout: 200_000,
}, async () => {
  const { code, output } = await startRun([...fixtures, 'throws', 'looks'], {
    ...sameServer(),
    FIXTURE_READY: join(tmpdir(), 'ready-throws'),
  }).ended;
  expect(output.match(/Error: this set-up fails half-way/g), output).toHaveLength(1);
  expect(output).not.toContain('Cannot read properties of undefined');
  expect(output).toMatch(/Test Files\s+1 failed \| 1 passed \(2\)/);
  expect(code).toBe(1);
});

test.for(['SIGINT', 'SIGKILL'] as const)(
  'a run ended by %s leaves no process and no temporary file',
  { timeout: 200_000 },
  async signal => {
    const folder = await mkdtemp(join(tmpdir(), 'ended-'));
    await chmod(folder, 0o755);
    const ready = join(tmpdir(), `ready-${signal}`);
    const before = new Set(await foldersInMemory());
    const env = { TMPDIR: folder, FIXTURE_READY: ready, TEST_DATABASE_URL: '' };
    const { child, ended } = startRun([...fixtures, 'hangs'], env);
    await eventually(() => access(ready));
    const folders = [folder, ...(await foldersInMemory()).filter(each => !before.has(each))];
    const running = () => folders.flatMap(processesBelow).map(({ command }) => command);
    expect(running().some(command => command.includes('postgres'))).toBe(true);
    // A terminal sends Ctrl-C to the whole group. SIGKILL goes to the runner alone.
    process.kill(signal === 'SIGINT' ? -child.pid! : child.pid!, signal);
    await ended;
    const devChainPid = Number(await readFile(ready, 'utf8'));
    await eventually(async () => {
      expect([...running(), ...(await readdir(folder))]).toEqual([]);
      expect(folders.slice(1).filter(existsSync)).toEqual([]);
      expect(() => process.kill(devChainPid, 0)).toThrow('ESRCH');
    });
  },
);
