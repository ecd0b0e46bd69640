import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { formatSegment, type LogSegment, parseSegment, segmentBytes } from '../core/logSegment.ts';
import type { BackupEnd, LogContinuation } from '../local/backup/backupItems.ts';
import { gapsIn, readArchiveFolder } from '../local/backup/logArchiveFolder.ts';
import { readBackup, verifyingSink } from '../local/backup/readBackup.ts';
import type { AgeKey } from '../vault/ageFile.ts';
import { readPiece } from './archivedPieces.ts';
import { listBackups } from './backupFolder.ts';
import { createProgress } from './backupProgress.ts';
import { sizeOf } from './disk.ts';
import { type KeyOptions, obtainKey, openBackup } from './readableBackup.ts';

export type FolderRead = {
  readonly backups: number;
  readonly segments: number;
  readonly bytes: number;
  /** When the newest one that could be read began. */
  readonly newestAt: string | null;
  /** Each names a file. Empty if everything is whole. */
  readonly problems: readonly string[];
};

type Findings = { readonly problems: string[]; bytes: number };

/** Faults of one file are told beside those of the others. */
const tried = async <T>(findings: Findings, file: string, work: () => Promise<T>): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) findings.problems.push(`${file}: It was removed meanwhile.`);
    else if (!(error instanceof FlorinError)) throw error;
    else findings.problems.push(error.message.startsWith(file) ? error.message : `${file}: ${error.message}`);
    return null;
  }
};

/** A segment says itself where it belongs. It may have been copied from the timeline before. */
const checkStart = (start: Buffer, { timeline, number }: LogSegment, file: string): void => {
  const isRight =
    start.length >= 40 &&
    start.readUInt32LE(4) <= timeline &&
    start.readBigUInt64LE(8) === BigInt(number) * BigInt(segmentBytes);
  if (!isRight)
    throw new FlorinError('conflict', `${file}: It does not contain ${formatSegment({ timeline, number })}.`);
};

const verifyPiece = async (file: string, key: AgeKey, digest: string | null, segment: LogSegment | null) => {
  let [start, bytes] = [Buffer.alloc(0), 0];
  for await (const chunk of readPiece(file, key, digest)) {
    if (start.length < 40) start = Buffer.concat([start, chunk.subarray(0, 40)]);
    bytes += chunk.length;
  }
  if (segment === null) return;
  checkStart(start, segment, file);
  if (digest !== null && bytes !== segmentBytes) throw new FlorinError('conflict', `${file}: It is too short.`);
};

/** Returns how many segments there are. */
const verifyLog = async (
  folder: string,
  options: KeyOptions,
  continuations: readonly LogContinuation[],
  findings: Findings,
  onFile: (file: string) => Promise<void>,
): Promise<number> => {
  const archived = await readArchiveFolder(folder);
  const needed = continuations.map(({ nextSegment }) => parseSegment(nextSegment)!);
  const from = needed.sort((one, other) => one.number - other.number)[0] ?? null;
  for (const gap of gapsIn(archived, from)) findings.problems.push(`${folder}: ${gap}.`);
  const { segments, part, journal } = archived;
  const pieces = [
    ...segments,
    ...(part === null ? [] : [{ ...part, digest: null }]),
    ...journal.map(each => ({ ...each, segment: null })),
  ];
  const known = new Set(pieces.map(({ file }) => file));
  for (const name of await readdir(folder)) {
    const isLeftOver = name.startsWith('.') || /\.part\.zst\.age$/.test(name);
    if (!known.has(name) && !isLeftOver)
      findings.problems.push(`${join(folder, name)}: It has no name of the archive.`);
  }
  for (const { file, digest, segment } of pieces) {
    const path = join(folder, file);
    // A running Florin writes the part anew, and removes it when the segment is whole.
    if (digest === null && (await sizeOf(path)) === 0) continue;
    await tried(findings, path, async () =>
      verifyPiece(path, await obtainKey(options, new Uint8Array(0)), digest, segment),
    );
    await onFile(path);
  }
  return segments.length;
};

/** Checks every byte of the backups of a directory and of the log beside them, and that no piece of it is missing. */
export const verifyFolder = async (directory: string, options: KeyOptions): Promise<FolderRead> => {
  const findings: Findings = { problems: [], bytes: 0 };
  const backups = (await listBackups(directory)).map(({ file }) => file);
  const folders = (await readdir(directory)).filter(name => name.startsWith('florin-log-')).sort();
  if (backups.length + folders.length === 0) {
    throw new FlorinError('conflict', `There is no backup in ${directory}.`);
  }
  const inFolders = await Promise.all(
    folders.map(async name => (await readdir(join(directory, name))).map(file => join(directory, name, file))),
  );
  const sizes = await Promise.all([...backups, ...inFolders.flat()].map(sizeOf));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = createProgress('verified');
  const onFile = async (file: string): Promise<void> => {
    findings.bytes += await sizeOf(file);
    progress(findings.bytes, total);
  };
  const ends: BackupEnd[] = [];
  const began: string[] = [];
  for (const file of backups) {
    const read = await tried(findings, file, () => readBackup(openBackup(file, options), verifyingSink));
    if (read !== null) began.push(read.facts.backupAt);
    if (read?.end) ends.push(read.end);
    await onFile(file);
  }
  const continuations = ends.flatMap(({ log }) => (log === null ? [] : [log]));
  for (const name of new Set(continuations.map(({ folder }) => folder))) {
    if (!folders.includes(name)) findings.problems.push(`${join(directory, name)}: The folder of the log is missing.`);
  }
  let segments = 0;
  for (const name of folders) {
    const ofFolder = continuations.filter(({ folder }) => folder === name);
    segments += await verifyLog(join(directory, name), options, ofFolder, findings, onFile);
  }
  return { backups: backups.length, segments, newestAt: began.sort().at(-1) ?? null, ...findings };
};
