import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Machine, trustSteps } from '../../src/cli/trustSteps.ts';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';
import { type Ended, makeRoom, run } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 120_000 });

let room: string;
let caPath: string;
let name: string;
const calls = () => readFile(join(room, 'calls'), 'utf8').catch(() => '');

beforeAll(async () => {
  room = await makeRoom();
  ({ caPath } = await ensureLocalCertificates({ dataDir: join(room, 'data') }));
  name = /^CN=(.+)$/m.exec(new X509Certificate(await readFile(caPath)).subject)![1]!;
  await mkdir(join(room, 'bin'));
  // Programs of the system that write down how they were called: a test must not change the machine.
  for (const program of ['certutil', 'sudo', 'cp', 'update-ca-certificates', 'security']) {
    const path = join(room, 'bin', program);
    await writeFile(path, `#!/bin/sh\necho "${program} $*" >> "${join(room, 'calls')}"\n`);
    await chmod(path, 0o755);
  }
});
afterAll(() => rm(room, { recursive: true, force: true }));

const path = () => ({ PATH: `${join(room, 'bin')}:/usr/bin:/bin` });
const trust = (...args: string[]): Promise<Ended> => run(['trust', ...args], room, path());

describe('florin trust', () => {
  test('prints the commands with the true path of the CA, and runs none', async () => {
    const { code, stdout, stderr } = await trust();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(caPath);
    expect(stdout).toContain('npx florin trust --install');
    if (process.platform === 'linux') {
      expect(stdout).toContain(`certutil -A -d sql:${join(room, '.pki', 'nssdb')} -n '${name}' -t C,, -i ${caPath}`);
      expect(stdout).toContain('update-ca-certificates');
    }
    expect(await calls()).toBe('');
  });

  test('says the same as JSON', async () => {
    const { code, stdout } = await trust('--json');
    expect(code).toBe(0);
    const { ca, steps } = JSON.parse(stdout);
    expect(ca).toBe(caPath);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) expect(step).toMatchObject({ store: expect.any(String), outcome: 'printed' });
    expect(steps.flatMap((step: { commands: string[] }) => step.commands).join('\n')).toContain(caPath);
  });

  test('installs nothing without a terminal to ask on, unless it is told --yes', async () => {
    const { code, stdout, stderr } = await trust('--install');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--yes');
    expect(await calls()).toBe('');
  });

  test('with --install --yes it runs what the browsers need, and nothing privileged unless it is told --system', async () => {
    const { code, stdout, stderr } = await trust('--install', '--yes', '--json');
    expect(code, stderr).toBe(0);
    const { steps } = JSON.parse(stdout) as { steps: { isPrivileged: boolean; outcome: string }[] };
    expect(steps.map(step => step.outcome)).toEqual(
      steps.map(({ isPrivileged }) => (isPrivileged ? 'skipped' : 'installed')),
    );
    const made = await calls();
    expect(made).toContain(caPath);
    expect(made).not.toMatch(/sudo|cp |update-ca-certificates/);
    if (process.platform !== 'linux') return;
    expect((await trust('--install', '--yes', '--system')).code).toBe(0);
    expect((await calls()).slice(made.length)).toMatch(/update-ca-certificates/);
  });

  test('says what is missing where there is no CA yet, or none of its own', async () => {
    const none = await trust('--data-dir', join(room, 'elsewhere'));
    expect([none.code, none.stdout]).toEqual([1, '']);
    expect(none.stderr).toContain(join(room, 'elsewhere', 'tls', 'ca.pem'));
    const own = await run(['trust'], room, { ...path(), FLORIN_TLS_CERT: caPath, FLORIN_TLS_KEY: caPath });
    expect([own.code, own.stdout]).toEqual([1, '']);
    expect(own.stderr).toContain('FLORIN_TLS_CERT');
  });
});

describe('the steps', () => {
  const ca = { path: '/data/tls/ca.pem', name: 'Florin local CA 1234' };
  const machine = (given: Partial<Machine>): Machine => ({
    platform: 'linux',
    home: room,
    isRoot: false,
    hasDebianStore: true,
    ...given,
  });

  test("on Linux, each of Firefox's profiles gets the CA, and a database that is missing is made for Chromium", async () => {
    const profile = join(room, '.mozilla', 'firefox', 'abc.default');
    await mkdir(profile, { recursive: true });
    await writeFile(join(profile, 'cert9.db'), '');
    const steps = trustSteps(machine({}), ca);
    expect(steps.map(({ store }) => store)).toEqual([
      'Chrome and Chromium',
      'Firefox',
      'All other programs of this machine',
    ]);
    expect(steps[0]!.commands.map(([program, option]) => `${program} ${option}`)).toEqual([
      'mkdir -p',
      'certutil -N',
      'certutil -A',
    ]);
    expect(steps[1]!.commands).toEqual([
      ['certutil', '-A', '-d', `sql:${profile}`, '-n', ca.name, '-t', 'C,,', '-i', ca.path],
    ]);
    expect(steps[2]!.commands.map(([program]) => program)).toEqual(['sudo', 'sudo']);
    expect(trustSteps(machine({ isRoot: true }), ca)[2]!.commands.flat()).not.toContain('sudo');
    const elsewhere = trustSteps(machine({ hasDebianStore: false }), ca);
    expect(elsewhere.map(({ store }) => store)).toEqual(['Chrome and Chromium', 'Firefox']);
  });

  test('on macOS, the CA goes into the keychain of the person', () => {
    const [step, ...others] = trustSteps(machine({ platform: 'darwin', home: '/home-of-me' }), ca);
    expect(others).toEqual([]);
    const keychain = '/home-of-me/Library/Keychains/login.keychain-db';
    expect(step!.commands).toEqual([['security', 'add-trusted-cert', '-r', 'trustRoot', '-k', keychain, ca.path]]);
    expect(step!.isPrivileged).toBe(false);
  });
});
