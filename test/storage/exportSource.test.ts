import { beforeAll, expect, test } from 'vitest';
import { judgeReplay } from '../../src/cli/judgeStandbys.ts';
import { silentLog } from '../../src/core/log.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createExportSource } from '../../src/storage/exportSource.ts';
import { readReplay } from '../../src/storage/standbys.ts';
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
const isOnStandby = async (): Promise<boolean> => {
  const db = await createExportSource({ standby, primary, log: silentLog })(accountId);
  const [row] = await db.query<{ isStandby: boolean }>(statement('select pg_is_in_recovery() as "isStandby"'));
  return row!.isStandby;
};

test('an export is read from the standby once that has the export itself', async () => {
  await act();
  expect(await isOnStandby()).toBe(true);
});

test('an account without a log is read from the primary', async () => {
  const db = await createExportSource({ standby, primary, log: silentLog })('acct_2');
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
  const behind = await readReplay(standby, primary);
  expect(behind).toMatchObject({ isStandby: true, isSameCluster: true });
  expect(behind.bytesBehind).toBeGreaterThan(0);
  await servers.standby.ask('select pg_wal_replay_resume()');
  expect(await until(isOnStandby, is => is)).toBe(true);
});

test('a log of another history is not taken for ours', async () => {
  await primary.script(`update audit_heads set hash = 'other'`);
  expect(await isOnStandby()).toBe(false);
  await act();
  expect(await isOnStandby()).toBe(true);
});

test('a standby that goes away in the middle of an export leaves the rest to the primary', async () => {
  const db = await createExportSource({ standby, primary, log: silentLog })(accountId);
  const server = () => db.query<{ isStandby: boolean }>(statement('select pg_is_in_recovery() as "isStandby"'));
  expect(await server()).toEqual([{ isStandby: true }]);
  await servers.standby.kill();
  expect(await server()).toEqual([{ isStandby: false }]);
  expect(await isOnStandby()).toBe(false);
  await servers.standby.start();
  expect(await server()).toEqual([{ isStandby: false }]);
});

test('doctor says what the server for exports is', () => {
  const told = (replay: Parameters<typeof judgeReplay>[0]) => judgeReplay(replay);
  const good = { isStandby: true, isSameCluster: true, bytesBehind: 42 };
  expect(told(good)).toEqual({ ok: true, detail: 'the standby for exports is 42 bytes behind' });
  expect(told({ ...good, isStandby: false })).toMatchObject({
    ok: true,
    detail: expect.stringContaining('no standby'),
  });
  expect(told({ ...good, isSameCluster: false })).toMatchObject({ ok: false });
});
