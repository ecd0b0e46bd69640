import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockDataDirectory } from '../../src/local/dataDirectoryLock.ts';
import { postgresScene } from './postgresScene.ts';

const scene = postgresScene();
afterEach(scene.end);

test('a held directory is refused with the id of the process that holds it', async () => {
  const dataDir = await scene.makeDirectory();
  const lock = lockDataDirectory({ dataDir });
  const expected = `Florin is already running on ${dataDir} (process ${process.pid}). Stop that one, or choose another --data-dir`;
  expect(() => lockDataDirectory({ dataDir })).toThrow(expected);
  const other = scene.run('lockHolder', dataDir);
  await other.next();
  other.process.stdin?.write('take\n');
  expect(await other.next()).toEqual({ failure: expected });
  lock.release();
  lock.release();
  lockDataDirectory({ dataDir }).release();
});

test('a killed process holds nothing, whatever process id it has left behind', async () => {
  const dataDir = await scene.makeDirectory();
  const holder = scene.run('lockHolder', dataDir);
  await holder.next();
  holder.process.stdin?.write('take\n');
  expect(await holder.next()).toEqual({ held: true });
  expect(() => lockDataDirectory({ dataDir })).toThrow(`(process ${holder.pid})`);
  holder.process.kill('SIGKILL');
  await holder.exited;
  writeFileSync(join(dataDir, 'florin.pid'), `${process.ppid}\n`);
  lockDataDirectory({ dataDir }).release();
});

test('of several that come at once exactly one gets the directory', { tags: ['thorough'] }, async () => {
  const dataDir = await scene.makeDirectory();
  for (let round = 0; round < 3; round++) {
    const rivals = Array.from({ length: 4 }, () => scene.run('lockHolder', dataDir));
    await Promise.all(rivals.map(rival => rival.next()));
    for (const rival of rivals) rival.process.stdin?.write('take\n');
    const answers = await Promise.all(rivals.map(rival => rival.next()));
    expect(answers.filter(answer => answer.held === true)).toHaveLength(1);
    for (const rival of rivals) rival.process.kill('SIGKILL');
    await Promise.all(rivals.map(rival => rival.exited));
  }
});

test('a directory that is not there is made', () => {
  const parent = mkdtempSync(join(tmpdir(), 'florin-lock-'));
  try {
    lockDataDirectory({ dataDir: join(parent, 'a/b') }).release();
  } finally {
    rmSync(parent, { recursive: true });
  }
});
