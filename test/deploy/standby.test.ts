// @module-tag basebackup
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type ComposeServer, type ComposeServers, openComposeServers } from './composeServers.ts';

let servers: ComposeServers;
beforeAll(async () => {
  servers = await openComposeServers();
  await servers.create('db1');
});

const ready = ({ ask }: ComposeServer) =>
  until(
    () => ask<{ standby: boolean }>('select pg_is_in_recovery() as standby').catch((error: Error) => ({ error })),
    answer => 'standby' in answer,
  );

const standbyOf = ({ ask }: ComposeServer) =>
  ask<{ standbys: string }>(
    "select coalesce(string_agg(application_name || ' ' || state || ' ' || sync_state, ', '), '') as standbys from pg_stat_replication",
  );

test('the first commit waits for the standby, which takes its copy again if that was interrupted', async () => {
  const { db1, db2 } = servers;
  db1.start('db1');
  expect(await ready(db1)).toEqual({ standby: false });
  const committed = db1.ask('create table written (at timestamptz)').then(() => 'committed');
  await until(
    () =>
      db1.ask<{ waiting: number }>(
        "select count(*)::int as waiting from pg_stat_activity where wait_event = 'SyncRep'",
      ),
    ({ waiting }) => waiting === 1,
  );

  const incomplete = `${db2.data}.incomplete`;
  await mkdir(incomplete);
  await chmod(incomplete, 0o777);
  await writeFile(join(incomplete, 'PG_VERSION'), 'half of it');
  db2.start('db1');
  expect(await ready(db2)).toEqual({ standby: true });
  expect(await committed).toBe('committed');
  expect(existsSync(incomplete)).toBe(false);
  expect(await standbyOf(db1)).toEqual({ standbys: 'db2 streaming sync' });
  // The standby has it on disk when the commit is acknowledged, and shows it a moment later.
  await until(
    () => db2.ask<{ there: boolean }>("select to_regclass('written') is not null as there"),
    ({ there }) => there,
  );
});

test('a standby that starts again goes on with the data that it has', async () => {
  const { db1, db2 } = servers;
  await db2.stop();
  const mark = join(db2.data, 'mark-of-this-copy');
  await writeFile(mark, '');
  db2.start('db1');
  await until(
    () => standbyOf(db1),
    ({ standbys }) => standbys === 'db2 streaming sync',
  );
  expect(existsSync(mark)).toBe(true);
});

test('after a promotion by hand, the former primary refuses to start until it is made a standby', async () => {
  const { db1, db2 } = servers;
  await db1.ask('insert into written values (now())');
  await db1.stop();
  await db2.stop();
  db2.start('db2');
  expect(await ready(db2)).toEqual({ standby: true });
  await db2.ask("alter system set synchronous_standby_names = ''");
  await db2.ask('select pg_reload_conf()');
  await db2.ask('select pg_promote()');
  expect(await ready(db2)).toEqual({ standby: false });
  expect(await db2.ask('select count(*)::int as rows from written')).toEqual({ rows: 1 });

  const former = await db1.refusal('db2');
  expect(former).toMatchObject({ code: 1, stderr: expect.stringContaining('db1 is no standby, and PRIMARY is db2') });
  await rm(db1.data, { recursive: true });
  // With the setting from before, it would begin a database of its own.
  const empty = await db1.refusal('db1');
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining('db1 has no data') });
  expect(existsSync(db1.data)).toBe(false);

  db1.start('db2');
  expect(await ready(db1)).toEqual({ standby: true });
  await db2.ask("alter system set synchronous_standby_names = 'db1, db2'");
  await db2.ask('select pg_reload_conf()');
  await until(
    () => standbyOf(db2),
    ({ standbys }) => standbys === 'db1 streaming sync',
  );
  await db2.ask('insert into written values (now())');
  await until(
    () => db1.ask<{ rows: number }>('select count(*)::int as rows from written'),
    ({ rows }) => rows === 2,
  );
});
