import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openEpochs } from '../../src/cli/epochFile.ts';
import { formatEpoch, parseEpoch } from '../../src/core/epoch.ts';
import { silentLog } from '../../src/core/log.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const openWith = async (text: string): Promise<string[]> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-epochs-'));
  atEndOfFile(() => rm(dataDir, { recursive: true, force: true }));
  const path = join(dataDir, 'derivation-epochs');
  await writeFile(path, text);
  const { take } = await openEpochs({ dataDir }, scene.admin, { holder: 'test', log: silentLog });
  await take();
  return (await readFile(path, 'utf8')).split('\n');
};

test('a line that a crash has cut is removed before the next epoch is written', async () => {
  const [kept, taken, end, ...more] = await openWith('5.1\n5912');
  expect([kept, end, more]).toEqual(['5.1', '', []]);
  expect(formatEpoch(parseEpoch(taken!)!)).toBe(taken);
  expect(parseEpoch(taken!)!.number, 'of this time').toBeGreaterThan(59_000_000);
  expect(parseEpoch(taken!)!.number).toBeLessThan(500_000_000);
});

test('a file whose only line was cut begins anew', async () => {
  const [taken, end, ...more] = await openWith('591');
  expect(parseEpoch(taken!)).not.toBeNull();
  expect([end, more]).toEqual(['', []]);
});

test('a file that is damaged elsewhere is refused', async () => {
  await expect(openWith('5.1\nx\n5.2\n')).rejects.toThrow(/damaged/);
});
