import { beforeAll, beforeEach, expect, test } from 'vitest';
import { judgeStandbys } from '../../src/cli/judgeStandbys.ts';
import { silentLog } from '../../src/core/log.ts';
import { type Database, isUnavailable, openDatabase } from '../../src/storage/database.ts';
import { readStandbys } from '../../src/storage/standbys.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTwoServers, type TwoServers } from '../support/twoServers.ts';
import { eventually } from '../support/until.ts';

let servers: TwoServers;
beforeAll(async () => {
  servers = await startTwoServers();
  await servers.primary.ask('create table notes (text text)');
  await servers.primary.ask('create role florin_app login');
});

const open = (url: string, queryTimeoutMs = 5_000): Database => {
  const db = openDatabase({ connectionString: url }, { log: silentLog, maxConnections: 2, queryTimeoutMs });
  atEndOfFile(db.close);
  return db;
};
const asPostgres = (): Database => open(servers.url(servers.primary));
const asFlorin = (): Database => open(servers.url(servers.primary).replace('postgres@', 'florin_app@'));

const require = async (names: string): Promise<void> => {
  await servers.primary.ask(`alter system set synchronous_standby_names = '${names}'`);
  await servers.primary.ask('select pg_reload_conf()');
};
const told = async (db: Database) => judgeStandbys(await readStandbys(db));
/** Waits until the server has read its settings, and the standby is there or gone. */
const eventuallyTold = (db: Database, ok: boolean, detail: RegExp): Promise<void> =>
  eventually(async () => expect(await told(db)).toEqual({ ok, detail: expect.stringMatching(detail) }));

beforeEach(async () => {
  await require('');
});

test('a standby that commits do not wait for is no problem, and said', async () => {
  await eventuallyTold(
    asPostgres(),
    true,
    /^writes are acknowledged without waiting for any of 1 standby: .* can lose/,
  );
});

test('a standby that commits wait for is named', async () => {
  await require('standby');
  await eventuallyTold(asPostgres(), true, /^writes wait for a standby \(.* = standby\): standby$/);
  await require('any 1 (standby, other)');
  await eventuallyTold(asPostgres(), true, /: standby$/);
});

test('a role that may not see standbys is told how it can', async () => {
  await require('standby');
  await eventuallyTold(asFlorin(), true, /florin_app may not see which of 1 standby: grant pg_read_all_stats to/);
  await servers.primary.ask('grant pg_read_all_stats to florin_app');
  await eventuallyTold(asFlorin(), true, /: standby$/);
  await servers.primary.ask('revoke pg_read_all_stats from florin_app');
});

test('a role whose commits do not wait is a problem', async () => {
  await require('standby');
  await servers.primary.ask('alter role florin_app set synchronous_commit = local');
  await eventuallyTold(asFlorin(), false, /^synchronous_commit is local for florin_app/);
  await servers.primary.ask('alter role florin_app reset synchronous_commit');
});

test('a write that its standby does not have is not acknowledged, and nobody sees it before', async () => {
  const { primary, standby, url } = servers;
  await require('standby');
  await eventuallyTold(asPostgres(), true, /: standby$/);
  await standby.kill();
  await eventuallyTold(asPostgres(), false, /none is connected: nothing can be written/);

  const count = async (): Promise<number> =>
    (await primary.ask<{ n: number }>('select count(*)::int as n from notes')).n;
  const insert = { name: 'test-insert', text: `insert into notes values ('a')` };
  const hurried = open(url(primary), 200);
  const alone = await hurried.query(insert).catch((error: unknown) => error);
  const together = await hurried.transaction(tx => tx.query(insert)).catch((error: unknown) => error);
  expect([isUnavailable(alone), isUnavailable(together)]).toEqual([true, true]);
  expect(await count()).toBe(0);

  await standby.start();
  await eventually(async () => expect(await count()).toBe(2));
});

test('a single server is no problem', async () => {
  await servers.standby.kill();
  await eventuallyTold(asPostgres(), true, /^no standby is connected: .* on this server alone$/);
});
