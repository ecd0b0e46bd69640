import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { judgeBackups } from '../../src/cli/backupRecord.ts';
import { makeRoom, run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 60_000 });

let room: string;
beforeAll(async () => {
  room = await makeRoom();
});
const florin = (args: readonly string[], env: Record<string, string> = {}) => run(args, room, env);

test('a backup says how it is encrypted, or that it is not', { tags: ['thorough'] }, async () => {
  const { code, stderr } = await florin(['backup', '--to', room]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--plain')]);
  const secret = await florin(['backup', '--to', room, '--recipient', 'AGE-SECRET-KEY-1X']);
  expect([secret.code, secret.stderr]).toEqual([2, expect.stringContaining('public key of age')]);
  const both = await florin(['backup', '--to', room, '--plain', '--with-master-key']);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('cannot be used with')]);
});

test('without a running Florin there is nothing to back up, and a server of your own has its own means', {
  tags: ['thorough'],
}, async () => {
  const plain = ['backup', '--to', room, '--plain'];
  expect((await florin(plain)).stderr).toContain('Florin is not running');
  const own = await florin(plain, { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/florin' });
  expect(own.code).toBe(1);
  expect(own.stderr).toMatch(/pg_dump.*docs\/backups\.md/);
  expect(own.stderr).not.toContain('secret');
});

test('an identity is private, new and never overwritten', { tags: ['thorough'] }, async () => {
  const file = join(room, 'identity');
  const { stdout } = await florin(['backup', 'identity', '--output', file]);
  expect(stdout).toMatch(/^age1[a-z0-9]+\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  expect((await florin(['backup', 'identity', '--output', file])).code).toBe(1);
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('a restore needs an empty directory and a backup', async () => {
  const used = join(room, 'used');
  await mkdir(used);
  await writeFile(join(used, 'mine'), '');
  const noBackup = join(room, 'no-backup');
  await writeFile(noBackup, 'something else that is longer than what is looked at first, and more of it');
  const full = await florin(['restore', '--from', noBackup, '--data-dir', used]);
  expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  expect(await readdir(used)).toEqual(['mine']);
  const other = await florin(['restore', '--from', noBackup, '--data-dir', join(room, 'new')]);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('is not a backup of Florin')]);
  expect(await readdir(join(room, 'new'))).toEqual([]);
  expect((await florin(['backup', 'verify', noBackup])).code).toBe(1);
});

test('a start in the directory of a killed restore is refused', { tags: ['thorough'] }, async () => {
  const half = join(room, 'half');
  await mkdir(join(half, 'restoring'), { recursive: true });
  const { code, stderr } = await florin(['start', '--data-dir', half, '--port', '0', '--sandbox-port', '0']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('did not end')]);
  expect(await readdir(half)).toEqual(['restoring']);
});

test('the doctor misses backups after twice the interval', () => {
  const hour = 3_600_000;
  const [schedule, last] = [
    { hours: 24, since: '2026-01-01T00:00:00.000Z' },
    { backupAt: '2026-01-03T00:00:00.000Z', file: '/backups/one', bytes: 1 },
  ];
  const startMs = Date.parse(schedule.since);
  const judge = (parts: object, hours: number) =>
    judgeBackups({ schedule, last: null, continuations: {}, failing: null, ...parts }, startMs + hours * hour);
  expect(judge({ schedule: null }, 1_000).ok).toBe(true);
  expect(judge({}, 48).ok).toBe(true);
  expect(judge({}, 49)).toEqual({ ok: false, detail: `every 24 hours; none since ${schedule.since}` });
  expect(judge({ last }, 48 + 48).ok).toBe(true);
  expect(judge({ last }, 48 + 49).ok).toBe(false);
  const failing = { since: '2026-01-04T00:00:00.000Z', reason: 'the disk is full' };
  expect(judge({ last, failing }, 48 + 49).detail).toContain(
    'attempts fail since 2026-01-04T00:00:00.000Z: the disk is full',
  );
});
