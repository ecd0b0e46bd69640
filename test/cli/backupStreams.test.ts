// @module-tag thorough
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { makeIdentity } from '../../src/vault/ageFile.ts';
import { makeRoom, startServer } from './cliProcess.ts';

vi.setConfig({ testTimeout: 300_000 });

const program = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));
const exec = promisify(execFile);

test('a backup is written to a pipe, and is verified and restored from one', async () => {
  const room = await makeRoom();
  const { identity, recipient } = await makeIdentity();
  await writeFile(join(room, 'identity'), `${identity}\n`);
  await startServer(room);
  /** The exit code is that of the last command. */
  const shell = (script: string) =>
    exec('sh', ['-c', `florin() { "$NODE" "$PROGRAM" "$@"; }; ${script}`], {
      cwd: room,
      env: { PATH: process.env.PATH, HOME: room, NODE: process.execPath, PROGRAM: program },
    });

  const backup = `florin backup --to - --recipient ${recipient}`;
  const { stdout, stderr } = await shell(`${backup} | tee kept | florin backup verify - --identity identity --json`);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, hasMasterKey: false });
  expect(stderr).toMatch(/^Backed up .* in the output\. The master key is not in it/m);

  const restore = 'florin restore --from - --identity identity --master-key-file data/keys/master --data-dir';
  await shell(`cat kept | ${restore} restored`);
  expect(await readdir(join(room, 'restored'))).toEqual(
    expect.arrayContaining(['restored-backup.json', 'postgres', 'instance']),
  );

  // As after a connection that ended too early.
  for (const reader of ['florin backup verify - --identity identity', `${restore} cut`]) {
    await expect(shell(`head -c 1000000 kept | ${reader}`)).rejects.toMatchObject({ code: 1 });
  }
  expect(await readdir(join(room, 'cut'))).toEqual([]);
});
