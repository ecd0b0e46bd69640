import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptBackups } from '../../src/cli/keptBackups.ts';
import { removeOlderLog } from '../../src/cli/removeOlderLog.ts';
import { parseSegment } from '../../src/core/logSegment.ts';
import { archiveFolder, gapsIn, readArchiveFolder } from '../../src/local/backup/logArchiveFolder.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2030, 0, 20);
const nameAt = (atMs: number): string =>
  `florin-auto-0123abcd-${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.zst.age`;
const hoursAgo = (...hours: number[]): string[] => hours.map(each => nameAt(nowMs - each * hourMs));
const daily = { hours: 24, keep: 3 };

test('a schedule keeps its newest backups', () => {
  expect(keptBackups(hoursAgo(96, 72, 48, 24, 0), daily, nowMs)).toEqual(hoursAgo(0, 24, 48));
  expect(keptBackups(hoursAgo(49, 25, 1), daily, nowMs)).toEqual(hoursAgo(1, 25, 49));
  expect(keptBackups([], daily, nowMs)).toEqual([]);
});

test('extra backups of one day do not push out those of other days', () => {
  const extra = [1, 2, 3, 4, 5, 6];
  const kept = keptBackups(hoursAgo(...extra, 25, 49, 73), daily, nowMs);
  expect(kept).toEqual(hoursAgo(1, 2, 3, 4, 25, 49));
  expect(keptBackups(hoursAgo(30, 31, 32, 56), daily, nowMs)).toEqual(hoursAgo(30, 56));
});

test('a backup that was taken while the clock was ahead goes first', () => {
  const ahead = nameAt(nowMs + 1_000 * hourMs);
  expect(keptBackups([...hoursAgo(48, 24, 0), ahead], daily, nowMs)).toEqual(hoursAgo(0, 24, 48));
  expect(keptBackups([...hoursAgo(24, 0), ahead], daily, nowMs)).toEqual([...hoursAgo(0, 24), ahead]);
});

const digest = 'f'.repeat(32);
const segment = (number: number): string => `0000000100000000${number.toString(16).toUpperCase().padStart(8, '0')}`;
const backupsId = '0123abcd';

const makeArchives = async (archives: Record<string, readonly number[]>): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'florin-log-'));
  atEndOfFile(() => rm(directory, { recursive: true }));
  for (const [archive, numbers] of Object.entries(archives)) {
    const folder = join(directory, archiveFolder(backupsId, archive));
    await mkdir(folder);
    for (const number of numbers) await writeFile(join(folder, `${segment(number)}.${digest}.zst.age`), '');
  }
  return directory;
};

const continuation = (archive: string, next: number) => ({
  folder: archiveFolder(backupsId, archive),
  nextSegment: segment(next),
  journalBytes: 0,
});

test('the log from before the oldest kept backup is removed, and archives that none of them needs', async () => {
  const directory = await makeArchives({
    '20300101t': [1, 2],
    '20300102t': [1, 2, 3],
    '20300103t': [1],
    '20300104t': [],
  });
  const other = archiveFolder('ffffffff', '20300101t');
  await mkdir(join(directory, other));
  const current = archiveFolder(backupsId, '20300103t');
  const kept = [continuation('20300102t', 2), continuation('20300102t', 3), null];
  await removeOlderLog(directory, { backupsId, current, kept });
  // The archive that is newer than the current one has just been begun.
  const left = ['20300102t', '20300103t', '20300104t'].map(archive => archiveFolder(backupsId, archive));
  expect((await readdir(directory)).sort()).toEqual([...left, other].sort());
  const { segments } = await readArchiveFolder(join(directory, left[0]!));
  expect(segments.map(({ segment: { number } }) => number)).toEqual([2, 3]);
});

test('what is missing in an archive is named', async () => {
  const directory = await makeArchives({ a: [1, 2, 4] });
  const archived = await readArchiveFolder(join(directory, archiveFolder(backupsId, 'a')));
  const gap = `the segment ${segment(3)} is missing`;
  expect(gapsIn(archived, null)).toEqual([gap]);
  expect(gapsIn(archived, parseSegment(segment(4)))).toEqual([]);
  expect(gapsIn(archived, parseSegment(segment(0)))).toEqual([`the segment ${segment(0)} is missing`, gap]);
});
