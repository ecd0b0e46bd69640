import { beforeAll, expect, test } from 'vitest';
import { examineExports, judgeReplay } from '../../src/cli/examineExports.ts';
import { silentLog } from '../../src/core/log.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createExportSource } from '../../src/storage/exportSource.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTwoServers, type TwoServers } from '../support/twoServers.ts';
import { until } from '../support/until.ts';

const statement = (text: string) => ({ name: '', text });
const accountId = 'acct_1';

let servers: TwoServers;
let primary: Database;
let standby: Database;
beforeAll(async () => {
  servers = await startTwoServers();
  const open = (url: string): Database => {
    const db = openDatabase({ connectionString: url }, { log: silentLog, maxConnections: 2, needs: 'any' });
    atEndOfFile(db.close);
    return db;
  };
  primary = open(servers.url(servers.primary));
  standby = open(servers.url(servers.standby));
  await primary.script(`create table audit_log (account_id text, sequence bigint, hash bytea);
    create table audit_heads (account_id text, sequence bigint, hash bytea);
    insert into audit_heads values ('${accountId}', 0, '')`);
});

/** An act of the account, as an export is one. */
const act = async (): Promise<void> =>
  primary.script(`with head as (
      update audit_heads set sequence = sequence + 1, hash = sha256(hash) returning *)
    insert into audit_log select * from head`);
const examine = () => examineExports(servers.url(servers.standby), primary);
const isOnStandby = async (): Promise<boolean> => {
  const db = await createExportSource({ standby, primary, log: silentLog }).open(accountId);
  const [row] = await db.query<{ isStandby: boolean }>(statement('select pg_is_in_recovery() as "isStandby"'));
  return row!.isStandby;
};

test('an export is read from the standby once that has the export itself', async () => {
  await act();
  expect(await until(isOnStandby, is => is)).toBe(true);
});

test('an account without a log is read from the primary', async () => {
  const db = await createExportSource({ standby, primary, log: silentLog }).open('acct_2');
  expect(db).toBe(primary);
});

test('a standby that stays behind is not read, and is read again when it has caught up', async () => {
  await servers.standby.ask('select pg_wal_replay_pause()');
  await until(
    async () => (await servers.standby.ask<{ state: string }>('select pg_get_wal_replay_pause_state() as state')).state,
    state => state === 'paused',
  );
  await act();
  expect(await isOnStandby()).toBe(false);
  expect(await examine()).toEqual({
    ok: false,
    detail: expect.stringMatching(/^the standby for exports is \d+ bytes behind after/),
  });
  await servers.standby.ask('select pg_wal_replay_resume()');
  expect(await until(isOnStandby, is => is)).toBe(true);
});

test('a log of another history is not taken for ours', async () => {
  await primary.script(`update audit_heads set hash = 'other'`);
  expect(await isOnStandby()).toBe(false);
  await act();
  expect(await until(isOnStandby, is => is)).toBe(true);
});

test('a standby that goes away in the middle of an export leaves the rest to the primary', async () => {
  const db = await createExportSource({ standby, primary, log: silentLog }).open(accountId);
  const server = () => db.query<{ isStandby: boolean }>(statement('select pg_is_in_recovery() as "isStandby"'));
  expect(await server()).toEqual([{ isStandby: true }]);
  await servers.standby.kill();
  expect(await server()).toEqual([{ isStandby: false }]);
  expect(await isOnStandby()).toBe(false);
  await servers.standby.start();
  expect(await server()).toEqual([{ isStandby: false }]);
});

test('a standby that is behind another one that was asked first is left', async () => {
  const db = await createExportSource({ standby, primary, log: silentLog }).open(accountId);
  // As a name that leads to several servers would answer.
  await primary.script('delete from audit_log');
  await until(
    () => standby.query<{ count: number }>(statement('select count(*)::int as count from audit_log')),
    ([row]) => row!.count === 0,
  );
  expect(await db.query(statement('select pg_is_in_recovery() as "isStandby"'))).toEqual([{ isStandby: false }]);
});

test('a statement that the standby refuses is asked of the primary', async () => {
  await act();
  await until(isOnStandby, is => is);
  const db = await createExportSource({ standby, primary, log: silentLog }).open(accountId);
  await db.query(statement('create table written_by_export (id int)'));
  await expect(db.query(statement('select 1 / 0'))).rejects.toThrow();
});

test('doctor asks the server as an export does', async () => {
  expect(await until(examine, ({ ok }) => ok)).toEqual({ ok: true, detail: 'the standby has everything' });
  const leads = expect.stringContaining('leads to the primary');
  expect(await examineExports(servers.url(servers.primary), primary)).toEqual({ ok: true, detail: leads });
  const wrong = expect.stringContaining('(3D000)');
  const url = `${servers.url(servers.standby)}_other`;
  expect(await examineExports(url, primary)).toEqual({ ok: false, detail: wrong });
  const replay = { isStandby: false, bytesBehind: null, system: '1', startedAt: 'then' };
  const judged = (of: object) => judgeReplay({ ...replay, ...of }, { system: '1', startedAt: 'now' });
  expect(judged({})).toMatchObject({ ok: false, detail: expect.stringContaining('no standby any more') });
  expect(judged({ system: '2' })).toMatchObject({ ok: false, detail: expect.stringContaining('another cluster') });
});
