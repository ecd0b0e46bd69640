import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readBackupSchedule } from '../../src/cli/backupRecord.ts';
import { roles } from '../../src/core/access/rights.ts';
import { readBackups } from '../../src/engine/access/readBackups.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';

let dashboard: TestDashboard;
let owner: DashboardClient;
beforeAll(async () => {
  dashboard = await startDashboard({ takesFirstAccount: true });
  owner = await dashboard.as('owner');
});

const hourMs = 3_600_000;
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * hourMs).toISOString();
const recordFile = () => join(dashboard.scene.config.dataDir, 'backups.json');
/** The record as the schedule writes it. */
const record = (parts: { since?: string; last?: string; failing?: string }): Promise<void> =>
  writeFile(
    recordFile(),
    JSON.stringify({
      schedule: { hours: 24, since: parts.since ?? hoursAgo(500) },
      last: parts.last === undefined ? null : { backupAt: parts.last, file: '/mnt/secret-place/a', bytes: 1 },
      failing: parts.failing === undefined ? null : { since: parts.failing, reason: '/mnt/secret-place is full' },
    }),
  );
const backups = () => owner.do('GET /backups');

test('a database on another server is not judged', async () => {
  await rm(recordFile(), { force: true });
  expect(await backups()).toBeNull();
});

test('the people of the only account see when the last backup succeeded, and since when attempts fail', async () => {
  const [last, failing] = [hoursAgo(30), hoursAgo(3)];
  await record({ last });
  expect(await backups()).toEqual({ status: 'ok', isOperators: true, lastAt: last, failingSince: null });
  await record({ last, failing });
  expect(await backups()).toEqual({ status: 'attention', isOperators: true, lastAt: last, failingSince: failing });
});

/** As in a Florin that has the database in its data directory. */
const embedded = () => {
  const { config, admin } = dashboard.scene;
  return readBackups({
    listDb: admin.db,
    backups: () => readBackupSchedule({ ...config, database: null }, Date.now()),
  });
};

test('without a schedule, the embedded database has no backups', async () => {
  await rm(recordFile(), { force: true });
  expect(await embedded()).toEqual({ status: 'not_scheduled', isOperators: true, lastAt: null, failingSince: null });
});

test('two missing backups need attention, also if none has ever succeeded', async () => {
  await record({ last: hoursAgo(49) });
  expect(await backups()).toMatchObject({ status: 'attention', failingSince: null });
  await record({ since: hoursAgo(47) });
  expect(await backups()).toMatchObject({ status: 'ok', lastAt: null });
  await record({ since: hoursAgo(49) });
  expect(await backups()).toMatchObject({ status: 'attention', lastAt: null });
});

test('only owners and admins may ask', async () => {
  const answers = await Promise.all(
    roles.map(async role => [role, (await (await dashboard.as(role)).call('GET /backups')).status]),
  );
  expect(Object.fromEntries(answers)).toEqual({
    owner: 200,
    admin: 200,
    developer: 403,
    finance: 403,
    support: 403,
    viewer: 403,
  });
});

test('where there are several accounts, their people see the status alone', async () => {
  await record({ last: hoursAgo(30), failing: hoursAgo(3) });
  await dashboard.scene.account();
  const answer = await owner.call('GET /backups');
  expect(answer.json).toEqual({ status: 'attention', isOperators: false, lastAt: null, failingSince: null });
  await record({ last: hoursAgo(30) });
  expect(await backups()).toEqual({ status: 'ok', isOperators: false, lastAt: null, failingSince: null });
  await rm(recordFile());
  expect(await embedded()).toBeNull();
});
