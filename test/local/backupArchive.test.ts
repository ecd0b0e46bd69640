import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ArchiveItem, textItem, writeArchive } from '../../src/local/backup/archive.ts';
import { addDigest, compress } from '../../src/local/backup/compression.ts';
import { extractBackup } from '../../src/local/backup/extractBackup.ts';
import { readBackup, verifyingSink } from '../../src/local/backup/readBackup.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

const facts = {
  format: 'florin-backup',
  version: 1,
  backupAt: '2026-01-02T03:04:05.000Z',
  florin: '0.0.0',
  postgres: 18,
  masterKeyFingerprint: null,
  hasMasterKey: false,
  bytes: 10,
};
const first = (changes: object = {}): ArchiveItem =>
  textItem('restored-backup.json', JSON.stringify({ ...facts, ...changes }));
const directory = (path: string): ArchiveItem => ({ kind: 'directory', path, mode: 0o700 });

const archiveOf = (items: readonly ArchiveItem[]): Promise<Buffer> =>
  buffer(Readable.from(writeArchive(Readable.from(items), { seconds: 1_000, onBytes: () => {} })));
const compressed = async (archive: Uint8Array): Promise<Buffer> => {
  let file = Buffer.alloc(0);
  await pipeline(Readable.from([archive]), compress(), addDigest, async (chunks: AsyncIterable<Uint8Array>) => {
    file = Buffer.from(await buffer(chunks as AsyncIterable<Buffer>));
  });
  return file;
};
const small = () => [
  first(),
  directory('postgres'),
  textItem('postgres/passwords.json', '{}'),
  textItem('instance', 'me\n'),
];
const read = (bytes: Uint8Array) => readBackup(Readable.from([bytes]), verifyingSink);
const isRead = (bytes: Uint8Array) =>
  read(bytes).then(
    () => true,
    () => false,
  );

const makeRoom = async (): Promise<string> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-archive-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  return join(room, 'data');
};
const extract = (bytes: Uint8Array, dataDir: string) =>
  extractBackup(Readable.from([bytes]), { dataDir, masterKey: 'ab\n', begin: async () => {}, onBytes: () => {} });

test('every flipped bit of a plain backup is found, and every cut', { tags: ['thorough'] }, async () => {
  const file = await compressed(await archiveOf(small()));
  expect(await isRead(file)).toBe(true);
  const unnoticed: string[] = [];
  for (let at = 0; at < file.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(file);
      changed[at]! ^= 1 << bit;
      if (await isRead(changed)) unnoticed.push(`bit ${bit} of byte ${at}`);
    }
    if (await isRead(file.subarray(0, at))) unnoticed.push(`cut at ${at}`);
  }
  expect(unnoticed).toEqual([]);
  expect(await isRead(Buffer.concat([file, Buffer.alloc(1)])), 'something is added').toBe(false);
});

test('a file that differs from its checksum is named', async () => {
  const archive = await archiveOf(small());
  archive[archive.indexOf('me\n')]! ^= 1;
  await expect(read(await compressed(archive))).rejects.toThrow('instance does not match its checksum');
});

test('a path that leads out of the directory is refused', async () => {
  for (const path of ['../outside', '/outside', 'a/../../outside', 'a//b']) {
    const dataDir = await makeRoom();
    await expect(extract(await compressed(await archiveOf([first(), textItem(path, 'x')])), dataDir)).rejects.toThrow(
      'damaged',
    );
    expect(await readdir(dataDir)).toEqual([]);
  }
});

test('another archive, one of a newer Florin and one without its first file are refused', async () => {
  const refusal = async (...items: ArchiveItem[]) => read(await compressed(await archiveOf(items)));
  await expect(refusal(first({ version: 2, florin: '9.0.0' }))).rejects.toThrow('newer Florin (9.0.0)');
  await expect(refusal(first({ format: 'other' }))).rejects.toThrow('damaged');
  await expect(refusal(textItem('instance', 'me'))).rejects.toThrow('damaged');
  await expect(refusal()).rejects.toThrow('damaged');
});

test('an archive is a tar in a zstd stream that other programs read', async () => {
  const archive = await archiveOf(small());
  expect(zstdDecompressSync(await compressed(archive)).equals(archive)).toBe(true);
  expect(archive.subarray(257, 262).toString()).toBe('ustar');
});

test('a restore leaves the files with their modes, and nothing of its own', async () => {
  const dataDir = await makeRoom();
  await extract(await compressed(await archiveOf(small())), dataDir);
  expect((await readdir(dataDir, { recursive: true })).sort()).toEqual([
    'instance',
    'keys',
    'keys/master',
    'postgres',
    'postgres/passwords.json',
    'restored-backup.json',
  ]);
  expect(await readFile(join(dataDir, 'keys', 'master'), 'utf8')).toBe('ab\n');
  await expect(extract(await compressed(await archiveOf(small())), dataDir)).rejects.toThrow('is not empty');
});
