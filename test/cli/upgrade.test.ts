// @module-tag thorough
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRelease } from '../../src/storage/release.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { makeRoom, run, startServer } from './cliProcess.ts';

const newest = (await loadRelease()).migrations.length;

test('a process stops when the upgrade to a newer version is finished, and does not start any more', async () => {
  const { url } = await cloneDatabase();
  const db = openTestDatabase(url);
  const room = await makeRoom();
  const elsewhere = join(room, 'elsewhere');
  await mkdir(elsewhere);
  const env = { DATABASE_URL: url, FLORIN_ROLES: 'api' };

  // The newest migration is one that the release before does not know.
  await db.script(`with old as (delete from schema_migrations where version = ${newest} returning *)
    insert into schema_expansions select * from old`);
  const server = await startServer(room, { env });
  const unfinished = await run(['migrate'], elsewhere, env);
  expect(unfinished.stdout).toMatch(/^Nothing to do: .* The upgrade is not finished/);
  expect((await run(['doctor'], room, env)).stdout).toContain('the upgrade is not finished');
  const finished = await run(['migrate', '--finish', '--json'], elsewhere, env);
  expect(JSON.parse(finished.stdout)).toEqual({ applied: 0, version: newest, finished: newest });

  await db.script(`insert into schema_migrations values (${newest + 1}, 'next', 'x', default)`);
  const ended = await server.ended;
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/upgrade of the database to a newer version of Florin is finished, so this process has/);
  for (const command of [['start'], ['accounts', 'list'], ['migrate']]) {
    const { code, stderr } = await run(command, room, env);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/upgrade of this database to a newer (?:version of )?Florin/),
    ]);
  }
  expect((await run(['doctor'], room, env)).stdout).toContain('upgrade of this database to a newer Florin is finished');
});
