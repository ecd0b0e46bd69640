import { beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createConnector, NoUsableHost, ReadOnlyServer } from '../../src/storage/connect.ts';
import { type Database, isUnavailable, openDatabase } from '../../src/storage/database.ts';
import { nameOfHost, problemOfHosts, urlsOfHosts } from '../../src/storage/hosts.ts';
import { listen } from '../../src/storage/listen.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { freePort } from '../support/freePort.ts';
import { startTwoServers, type TwoServers } from '../support/twoServers.ts';
import { eventually, until } from '../support/until.ts';

describe('a list of hosts', () => {
  test.each<[string, string[]]>([
    ['postgres://u:p@h/x', ['postgres://u:p@h/x']],
    ['postgres://u:p@h1,h2/x', ['postgres://u:p@h1/x', 'postgres://u:p@h2/x']],
    ['postgresql://u:p@h1:1,h2:2/x?a=b', ['postgresql://u:p@h1:1/x?a=b', 'postgresql://u:p@h2:2/x?a=b']],
    ['postgres://u:a,b@h1,[::1]:2/x', ['postgres://u:a,b@h1/x', 'postgres://u:a,b@[::1]:2/x']],
    ['postgres://u:a@b@h1,h2/x', ['postgres://u:a@b@h1/x', 'postgres://u:a@b@h2/x']],
    ['postgres://h1,h2', ['postgres://h1', 'postgres://h2']],
    ['postgres://h1,h2?a=,', ['postgres://h1?a=,', 'postgres://h2?a=,']],
    ['postgres:///x?host=/run', ['postgres:///x?host=/run']],
  ])('%s', (url, urls) => {
    expect(urlsOfHosts(url)).toEqual(urls);
    expect(problemOfHosts(url)).toBeNull();
  });

  test('has the names that the operator wrote', () => {
    expect(urlsOfHosts('postgres://u:p@%2Frun%2Fa,h2:7,[::1]:2/x').map(nameOfHost)).toEqual([
      '/run/a',
      'h2:7',
      '[::1]:2',
    ]);
    expect(nameOfHost('postgres:///x?host=/run')).toBe('/run');
    expect(nameOfHost('postgres:///x')).toBe('the default host');
  });

  test.each([
    ['target_session_attrs=read-write', null],
    ['target_session_attrs=primary', null],
    ['load_balance_hosts=disable', null],
    ['target_session_attrs=any', 'target_session_attrs'],
    ['target_session_attrs=prefer-standby', 'target_session_attrs'],
    ['target_session_attrs=primary&target_session_attrs=any', 'target_session_attrs'],
    ['load_balance_hosts=random', 'load_balance_hosts'],
    ['host=h3', 'before the path'],
    ['port=1,2', 'before the path'],
  ])('with %s', (parameters, problem) => {
    const found = problemOfHosts(`postgres://u:p@h1,h2/x?${parameters}`);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toContain(problem);
  });

  test.each(['postgres://u:p@h1,/x', 'postgres://h1,,h2/x', 'postgres:///x?host=a,b', 'postgres://h1:1,h2:a/x'])(
    'that is incomplete: %s',
    url => expect(problemOfHosts(url)).toContain('before the path'),
  );

  test.each(['mysql://h1,h2/x', 'h1,h2', ''])('of something else: %s', url => {
    expect(problemOfHosts(url)).toBe('must be a postgres: URL');
  });
});

const ports = { name: 'test-port', text: `select current_setting('port')::int as port` };
const portOf = async (db: Database): Promise<number> => (await db.query<{ port: number }>(ports))[0]!.port;

const open = (url: string): Database => {
  const db = openDatabase({ connectionString: url }, { log: silentLog, maxConnections: 2 });
  atEndOfFile(db.close);
  return db;
};

describe('of two servers', () => {
  let servers: TwoServers;
  beforeAll(async () => {
    servers = await startTwoServers();
  });

  test('a replica that comes first is passed over', async () => {
    const { primary, standby, url } = servers;
    expect(await portOf(open(url(standby, primary)))).toBe(primary.port);
  });

  test('one that does not run is passed over', async () => {
    const { primary, url } = servers;
    const nobody = { ...primary, port: await freePort() };
    expect(await portOf(open(url(nobody, primary)))).toBe(primary.port);
  });

  test('none is used that cannot be written to, and each is named with its reason', async () => {
    const { primary, standby, url } = servers;
    const nobody = { ...primary, port: await freePort() };
    const failed = await open(url(standby, nobody))
      .query(ports)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(NoUsableHost);
    expect(isUnavailable(failed)).toBe(true);
    expect((failed as NoUsableHost).failures).toEqual([
      `127.0.0.1:${standby.port}: read-only`,
      `127.0.0.1:${nobody.port}: ECONNREFUSED`,
    ]);
  });

  test('the only one is refused as well while it cannot be written to, unless a replica will do', async () => {
    const { standby, url } = servers;
    const only = { connectionString: url(standby) };
    const failed = await open(only.connectionString)
      .query(ports)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ReadOnlyServer);
    expect(isUnavailable(failed)).toBe(true);
    const client = await createConnector(only, { needs: 'any' }).connect();
    await client.end();
  });

  test('a connection whose server became read-only is dropped, and the next one is to the writable server', async () => {
    const { primary, url } = servers;
    const db = open(url(primary));
    await db.script('create table if not exists notes (text text)');
    const note = { name: 'test-note', text: `insert into notes values ('a')` };
    const pid = { name: 'test-pid', text: 'select pg_backend_pid() as pid' };
    const [before] = await db.query<{ pid: number }>(pid);
    const refused = await db
      .transaction(async tx => {
        await tx.query({ name: 'test-close', text: 'set local transaction_read_only = on' });
        await tx.query(note);
      })
      .catch((error: unknown) => error);
    expect(isUnavailable(refused)).toBe(true);
    const [after] = await db.query<{ pid: number }>(pid);
    expect(after!.pid).not.toBe(before!.pid);
    await db.query(note);
  });
});

test('when the primary is gone and its standby was promoted, statements and notifications go on there', async () => {
  const { primary, standby, url } = await startTwoServers();
  const db = open(url(primary, standby));
  const connected: string[] = [];
  const heard: string[] = [];
  const listening = listen(
    { connectionString: url(primary, standby) },
    {
      channel: 'news',
      onNotification: payload => void heard.push(payload),
      onConnected: () => void connected.push('connected'),
      log: silentLog,
    },
  );
  atEndOfFile(listening.stop);
  await eventually(() => expect(connected).toHaveLength(1));
  expect(await portOf(db)).toBe(primary.port);

  await primary.kill();
  const failed = await portOf(db).catch((error: unknown) => error);
  expect(isUnavailable(failed)).toBe(true);
  await standby.ask('select pg_promote()');
  expect(await until(() => portOf(db).catch(() => null), Boolean)).toBe(standby.port);
  await eventually(() => expect(connected).toHaveLength(2));
  await standby.ask(`select pg_notify('news', 'after')`);
  await eventually(() => expect(heard).toEqual(['after']));

  // The former primary comes back as it was. The promoted one worked last, so it stays in use.
  await primary.start();
  expect(await portOf(db)).toBe(standby.port);
});
