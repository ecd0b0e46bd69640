import { readdir } from 'node:fs/promises';
import { formatSegment, type LogSegment, nextSegment, parseSegment } from '../../core/logSegment.ts';

/**
 * The folder of an archive of the log, beside the backups. It has the finished segments of PostgreSQL's log with their
 * digests, the part of the segment that is being written, and what was added to the journal of the local chain.
 */

export type ArchivedSegment = { readonly file: string; readonly segment: LogSegment; readonly digest: string };
export type ArchivedJournal = {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly digest: string;
};

export type ArchivedLog = {
  /** In order. */
  readonly segments: readonly ArchivedSegment[];
  /** Of the segment after the last whole one; null if there is none. */
  readonly part: { readonly file: string; readonly segment: LogSegment } | null;
  /** In order. */
  readonly journal: readonly ArchivedJournal[];
};

const suffix = '.zst.age';

/** Begins the names of all folders of a data directory. */
export const archivePrefix = (backupsId: string): string => `florin-log-${backupsId.slice(0, 8)}-`;
export const archiveFolder = (backupsId: string, archive: string): string => `${archivePrefix(backupsId)}${archive}`;

/** Enough to tell contents apart; names stay short. */
export const digestDigits = 32;

export const segmentFile = (segment: LogSegment, digest: string): string =>
  `${formatSegment(segment)}.${digest}${suffix}`;
export const partFile = (segment: LogSegment): string => `${formatSegment(segment)}.part${suffix}`;
/** Positions have twelve digits, so that files sort. */
export const journalFile = (from: number, to: number, digest: string): string =>
  `devchain-${String(from).padStart(12, '0')}-${String(to).padStart(12, '0')}.${digest}${suffix}`;

const inOrder = (one: LogSegment, other: LogSegment): number =>
  one.timeline - other.timeline || one.number - other.number;

export const readArchiveFolder = async (folder: string): Promise<ArchivedLog> => {
  const segments: ArchivedSegment[] = [];
  const parts: { file: string; segment: LogSegment }[] = [];
  const journal: ArchivedJournal[] = [];
  for (const file of await readdir(folder)) {
    const [, name = '', kind = ''] = /^([0-9A-F]{24})\.([0-9a-f]{32}|part)\.zst\.age$/.exec(file) ?? [];
    const segment = parseSegment(name);
    if (segment !== null && kind === 'part') parts.push({ file, segment });
    else if (segment !== null) segments.push({ file, segment, digest: kind });
    const [, from, to, digest = ''] = /^devchain-(\d{12})-(\d{12})\.([0-9a-f]{32})\.zst\.age$/.exec(file) ?? [];
    if (from !== undefined) journal.push({ file, from: Number(from), to: Number(to), digest });
  }
  segments.sort((one, other) => inOrder(one.segment, other.segment));
  journal.sort((one, other) => one.from - other.from || one.to - other.to);
  const last = segments.at(-1);
  // One that is older than a whole segment is left over.
  const part = parts.sort((one, other) => inOrder(other.segment, one.segment))[0] ?? null;
  const isNewer = part !== null && (last === undefined || inOrder(last.segment, part.segment) < 0);
  return { segments, part: isNewer ? part : null, journal };
};

/** What is missing between the files, as sentences without an end. `from`: what is before it does not matter. */
export const gapsIn = ({ segments, part, journal }: ArchivedLog, from: LogSegment | null): string[] => {
  const gaps: string[] = [];
  const all = [...segments.map(({ segment }) => segment), ...(part === null ? [] : [part.segment])];
  let expected = from ?? all[0];
  for (const segment of all) {
    if (expected !== undefined && inOrder(segment, expected) < 0) {
      const isTwice = from === null || inOrder(segment, from) >= 0;
      if (isTwice) gaps.push(`there are two files of the segment ${formatSegment(segment)}`);
      continue;
    }
    if (expected !== undefined && inOrder(segment, expected) > 0) {
      gaps.push(`the segment ${formatSegment(expected)} is missing`);
    }
    expected = nextSegment(segment);
  }
  for (const [at, { file, from: begin }] of journal.entries()) {
    if (at > 0 && begin !== journal[at - 1]!.to) gaps.push(`${file} does not follow the file before it`);
  }
  return gaps;
};
