import { access, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { postgresFiles } from '../../src/local/postgres/postgresFiles.ts';
import { findSocketDirectory } from '../../src/local/postgres/socketDirectory.ts';
import { findPostgres, findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { eventually } from '../support/until.ts';
import { postgresScene, postmasterPid, probe, processesNaming, query, recordingLog } from './postgresScene.ts';

// Ten starts in one test, on a machine that runs other tests as well.
const limit = { timeout: 60_000 };
const scene = postgresScene();
afterEach(scene.end);

const mark = (value: number) => `CREATE TABLE kept AS SELECT ${value} AS value`;

test('a first start brings up a private server with two plain roles', limit, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  expect(await findPostgres({ dataDir })).toBeNull();
  const server = await scene.start(dataDir);
  expect(server.adopted).toBe(false);
  const roles = await query(server.service, 'SELECT rolname, rolsuper, rolcreatedb, rolcreaterole FROM pg_roles');
  for (const rolname of ['florin_owner', 'florin_app']) {
    expect(roles).toContainEqual({ rolname, rolsuper: false, rolcreatedb: false, rolcreaterole: false });
  }
  await query(server.owner, mark(1));
  await expect(query(server.service, 'SELECT * FROM kept')).rejects.toMatchObject({ code: '42501' });
  await expect(query(server.service, 'CREATE TABLE mine (a int)')).rejects.toMatchObject({ code: '42501' });
  await expect(probe({ ...server.owner, password: 'wrong' })).rejects.toMatchObject({ code: '28P01' });
  const settings = 'SELECT name, setting FROM pg_settings WHERE name = any(array';
  const names = `['fsync', 'synchronous_commit', 'listen_addresses', 'server_encoding', 'lc_collate']) ORDER BY name`;
  const shown = (await query(server.owner, settings + names)).map(row => [row.name, row.setting]);
  const expected = { fsync: 'on', listen_addresses: '', server_encoding: 'UTF8', synchronous_commit: 'on' };
  expect(Object.fromEntries(shown)).toMatchObject(expected);
  expect((await stat(server.owner.host)).mode & 0o777).toBe(0o700);
  expect((await stat(join(dataDir, 'postgres/passwords.json'))).mode & 0o777).toBe(0o600);
  expect(await findPostgres({ dataDir })).toEqual({ owner: server.owner, service: server.service });
  expect(await probe((await findSuperuser({ dataDir }))!)).toBe(true);
  await Promise.all([server.stop(), server.stop()]);
  expect(await processesNaming(dataDir)).toEqual([]);
  expect(await findPostgres({ dataDir })).toBeNull();
});

test('a second start keeps the data, also below a path too long for a socket', {
  ...limit,
  tags: ['thorough'],
}, async () => {
  const dataDir = join(await scene.makeDirectory(), 'long, "quoted" name '.repeat(8));
  const first = await scene.start(dataDir);
  expect(first.owner.host.startsWith(dataDir)).toBe(false);
  await query(first.owner, mark(2));
  await first.stop();
  await rm(first.owner.host, { recursive: true });
  const second = await scene.start(dataDir);
  expect(second.adopted).toBe(false);
  expect(second.owner).toEqual(first.owner);
  expect(await query(second.owner, 'SELECT value FROM kept')).toEqual([{ value: 2 }]);
  expect((await findPostgres({ dataDir }))?.owner).toEqual(second.owner);
  await second.stop();
  await rm(second.owner.host, { recursive: true });
});

test('a parent killed at any stage of its first start leaves nothing that harms the next', {
  ...limit,
  tags: ['thorough'],
}, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const room = join(dataDir, 'postgres');
  const inBuild = async (path: string) => {
    const build = (await readdir(room)).find(entry => entry.startsWith('build-'));
    if (build !== undefined) await access(join(room, build, path));
    return build !== undefined;
  };
  const exists = async (path: string) => access(path).then(() => true);
  const hasOwnDatabase = async () => {
    const build = (await readdir(room)).find(entry => entry.startsWith('build-')) ?? '';
    return (await readdir(join(room, build, 'data/base'))).some(database => Number(database) >= 16384);
  };
  const stages = [
    () => exists(room),
    () => exists(join(room, 'passwords.json')),
    () => inBuild('.'),
    () => inBuild('data/PG_VERSION'),
    () => inBuild('data/global/pg_control'),
    () => inBuild('data/base/4'),
    async () => (await exists(join(room, 'cluster')).catch(() => false)) || hasOwnDatabase(),
    () => exists(join(room, 'cluster')),
    () => exists(join(room, 'cluster/postmaster.pid')),
    // Elsewhere if the path is too long for a socket.
    async () => exists(join((await findSocketDirectory(postgresFiles(dataDir)))!, '.s.PGSQL.5432')),
  ];
  for (const reached of stages) {
    const before = new Set(await readdir(room).catch(() => []));
    const parent = scene.run('postgresParent', dataDir);
    await eventually(async () => {
      const fresh = (await readdir(room).catch(() => [])).some(
        entry => entry.startsWith('build-') && !before.has(entry),
      );
      const isBuilding = fresh || !before.has('passwords.json') || (await exists(join(room, 'cluster')));
      expect(isBuilding && (await reached())).toBe(true);
    });
    parent.process.kill('SIGKILL');
    await parent.exited;
  }
  const server = await scene.start(dataDir);
  await query(server.owner, mark(3));
  expect(await probe(server.service)).toBe(true);
  expect((await readdir(room)).filter(entry => entry.startsWith('build-'))).toEqual([]);
  expect(await processesNaming(join(room, 'build-'))).toEqual([]);
  await server.stop();
  expect(await processesNaming(room)).toEqual([]);
});

test('the server of a killed parent is adopted with its data and can be stopped', {
  ...limit,
  tags: ['thorough'],
}, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const parent = scene.run('postgresParent', dataDir);
  expect(await parent.next()).toEqual({ adopted: false });
  const { owner } = (await findPostgres({ dataDir }))!;
  await query(owner, mark(4));
  const pid = await postmasterPid(dataDir);
  parent.process.kill('SIGKILL');
  await parent.exited;
  const server = await scene.start(dataDir);
  expect(server.adopted).toBe(true);
  expect(await postmasterPid(dataDir)).toBe(pid);
  expect(await query(server.owner, 'SELECT value FROM kept')).toEqual([{ value: 4 }]);
  process.kill(pid, 'SIGKILL');
  const backAgain = async () => (await postmasterPid(dataDir)) !== pid && probe(server.owner);
  await eventually(async () => expect(await backAgain()).toBe(true));
  expect(await query(server.owner, 'SELECT value FROM kept')).toEqual([{ value: 4 }]);
  await server.stop();
  expect(await processesNaming(dataDir)).toEqual([]);
});

test('a process of a fallen server that hangs does not keep the next one from starting', {
  ...limit,
  tags: ['thorough'],
}, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const server = await scene.start(dataDir);
  await query(server.owner, mark(5));
  const session = new pg.Client(server.owner);
  session.on('error', () => {});
  await session.connect();
  const { rows } = await session.query('SELECT pg_backend_pid() AS pid');
  process.kill(rows[0].pid, 'SIGSTOP');
  const pid = await postmasterPid(dataDir);
  process.kill(pid, 'SIGKILL');
  await eventually(async () =>
    expect((await postmasterPid(dataDir)) !== pid && (await probe(server.owner))).toBe(true),
  );
  expect(await query(server.owner, 'SELECT value FROM kept')).toEqual([{ value: 5 }]);
});

test('a survivor that does not answer is ended, and a reused process id does not mislead', {
  ...limit,
  tags: ['thorough'],
}, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const parent = scene.run('postgresParent', dataDir);
  await parent.next();
  const { owner } = (await findPostgres({ dataDir }))!;
  const pid = await postmasterPid(dataDir);
  parent.process.kill('SIGKILL');
  await parent.exited;
  await rm(join(owner.host, '.s.PGSQL.5432'));
  const server = await scene.start(dataDir);
  expect(server.adopted).toBe(false);
  expect(await postmasterPid(dataDir)).not.toBe(pid);
  await server.stop();
  // Files left by a crash, with an id that now belongs to a living process that is not a server.
  const cluster = join(dataDir, 'postgres/cluster');
  const remains = [process.ppid, cluster, 1, 5432, owner.host, '', '  0 0', 'ready   ', ''].join('\n');
  await writeFile(join(cluster, 'postmaster.pid'), remains);
  await writeFile(join(owner.host, '.s.PGSQL.5432.lock'), remains);
  const again = await scene.start(dataDir);
  expect(again.adopted).toBe(false);
  expect(await probe(again.owner)).toBe(true);
});

test('a server that dies is started again', { ...limit, tags: ['thorough'] }, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const { log, lines } = recordingLog();
  const server = await scene.start(dataDir, log);
  const restarts = () => lines.filter(line => line.message === 'PostgreSQL was started again').length;
  await query(server.owner, mark(5));
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const before = restarts();
    process.kill(await postmasterPid(dataDir), signal);
    await eventually(() => expect(restarts()).toBeGreaterThan(before));
  }
  expect(await query(server.owner, 'SELECT value FROM kept')).toEqual([{ value: 5 }]);
  expect(lines.filter(line => line.message === 'PostgreSQL ended unexpectedly')).toHaveLength(2);
  await server.stop();
  expect(await processesNaming(dataDir)).toEqual([]);
});

test('of two starts at once one runs and the other says so', { ...limit, tags: ['thorough'] }, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const rivals = [scene.run('postgresParent', dataDir), scene.run('postgresParent', dataDir)];
  const answers = await Promise.all(rivals.map(rival => rival.next()));
  expect(answers).toContainEqual({ adopted: false });
  const refusal = answers.find(answer => answer.failure !== undefined)?.failure;
  expect(refusal).toMatch(`Florin is already running on ${dataDir}/postgres`);
  const { owner } = (await findPostgres({ dataDir }))!;
  expect(await probe(owner)).toBe(true);
  for (const rival of rivals) rival.process.stdin?.end();
  await Promise.all(rivals.map(rival => rival.exited));
  expect(await processesNaming(dataDir)).toEqual([]);
});

test('a cluster of another major version is refused and left as it is', limit, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const cluster = join(dataDir, 'postgres/cluster');
  await mkdir(cluster, { recursive: true });
  await writeFile(join(cluster, 'PG_VERSION'), '16\n');
  const passwords = { superuser: 'a', owner: 'b', service: 'c' };
  await writeFile(join(dataDir, 'postgres/passwords.json'), JSON.stringify(passwords));
  await expect(scene.start(dataDir)).rejects.toThrow(/made by PostgreSQL 16; .*DATABASE_URL/s);
  expect(await readdir(cluster)).toEqual(['PG_VERSION']);
  expect(await readFile(join(cluster, 'PG_VERSION'), 'utf8')).toBe('16\n');
});

test('settings that promises rest on cannot be changed', limit, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  await expect(scene.start(dataDir, undefined, { fsync: 'off' })).rejects.toThrow('fsync');
});
