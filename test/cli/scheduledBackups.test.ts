// @module-tag thorough
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { makeIdentity } from '../../src/vault/ageFile.ts';
import { answering, startReceiver, verify } from '../deliveries/receiver.ts';
import { recordingLog } from '../local/postgresScene.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { until } from '../support/until.ts';
import { makeRoom, run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 600_000 });

/** A backup is a process of its own, with a low priority. */
const ofBackups = { patienceMs: 180_000 };

test('the running server takes backups, keeps the newest, and tells of a failure', async () => {
  const room = await makeRoom();
  const [dataDir, directory, identityFile] = ['data', 'backups', 'identity'].map(name => join(room, name)) as [
    string,
    string,
    string,
  ];
  const { identity, recipient } = await makeIdentity();
  await writeFile(identityFile, `${identity}\n`);
  await mkdir(directory);
  const receiver = await startReceiver(answering(204));
  // The schedule runs a command with the environment of this process, which a test may not change: only its directory.
  const env = {
    FLORIN_DATA_DIR: dataDir,
    FLORIN_PORT: '0',
    FLORIN_SANDBOX_PORT: '0',
    FLORIN_BACKUP_DIR: directory,
    FLORIN_BACKUP_RECIPIENT: recipient,
    FLORIN_BACKUP_KEEP: '2',
    FLORIN_ALERT_URL: receiver.url,
  };
  const config = await loadConfig({ env, cwd: room });
  const { log, lines } = recordingLog();
  const start = async () => {
    const florin = await startFlorin(config, log, undefined, { lookForBackupsMs: 50 });
    atEndOfFile(florin.stop);
    return florin;
  };
  const recordFile = join(dataDir, 'backups.json');
  const record = async () => JSON.parse(await readFile(recordFile, 'utf8'));
  const files = async () => (await readdir(directory)).filter(name => !name.startsWith('florin-log-')).sort();
  const doctor = async () => {
    const { stdout } = await run(['doctor', '--json', '--data-dir', dataDir], room);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; ok: boolean; detail: string }[] };
    return findings.find(({ check }) => check === 'backups');
  };
  const first = await start();
  await until(record, ({ last }) => last !== null, ofBackups);
  const [made] = await files();
  const verified = await run(['backup', 'verify', join(directory, made!), '--identity', identityFile], room);
  // The key is in the data directory: a backup by hand could have it.
  expect(await readdir(join(dataDir, 'keys'))).toContain('master');
  expect(verified.stdout).toMatch(/is whole: .*, without the master key\./);
  expect(await doctor()).toMatchObject({ ok: true, detail: expect.stringContaining(made!) });
  const { folder } = JSON.parse(await readFile(join(dataDir, 'log-archive.json'), 'utf8'));
  expect((await record()).last.log.folder).toBe(folder);
  await first.stop();

  // Two of ours, one of somebody else, and what a killed process left. Older than the one that is taken next.
  const prefix = made!.slice(0, made!.lastIndexOf('-') + 1);
  const [oldest, older, other] = [
    `${prefix}20000101T000000Z.tar.zst.age`,
    `${prefix}20000102T000000Z.tar.zst.age`,
    'florin-auto-00000000-20000101T000000Z.tar.zst.age',
  ];
  const unfinished = `.${oldest}.partial`;
  await rm(join(directory, made!));
  for (const name of [oldest, older, other, unfinished]) await writeFile(join(directory, name), '');
  const late = { ...(await record()), last: { backupAt: '2000-01-02T00:00:00.000Z', file: older, bytes: 0 } };
  await writeFile(recordFile, JSON.stringify(late));
  const second = await start();
  const { last } = await until(record, each => each.last.file !== older, ofBackups);
  await until(files, names => names.length === 3);
  expect(await files()).toEqual([other, older, last.file.slice(directory.length + 1)].sort());
  await second.stop();

  await rename(directory, `${directory}-away`);
  await writeFile(recordFile, JSON.stringify({ ...(await record()), last: late.last }));
  await start();
  const { failing } = await until(record, each => each.failing !== null, ofBackups);
  expect(failing.reason).toContain('is not a directory');
  expect(
    lines.filter(({ level, message }) => level === 'error' && message === 'the scheduled backup failed'),
  ).toHaveLength(1);
  const alerts = await until(
    async () => receiver.received,
    received => received.length > 0,
  );
  const { stdout } = await run(['secrets', 'alert', '--data-dir', dataDir], room);
  expect(verify(/whsec_\S+/.exec(stdout)![0], alerts[0]!)).toMatchObject({
    type: 'deployment.alert',
    environment: null,
    accountId: null,
    data: { action: 'backup.failed', actor: { kind: 'system', id: null } },
  });
  expect(await doctor()).toMatchObject({ ok: false, detail: expect.stringContaining('attempts fail since') });
});
