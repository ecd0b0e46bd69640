/**
 * Segments of PostgreSQL's log (WAL), by their names: the timeline, and the number of the segment as two numbers, which
 * 4 GiB and which segment of them.
 */
export type LogSegment = { readonly timeline: number; readonly number: number };

/** The default of PostgreSQL, which the embedded server has. */
export const segmentBytes = 16 * 1024 * 1024;

const hex = (number: number): string => number.toString(16).toUpperCase().padStart(8, '0');

export const formatSegment = ({ timeline, number }: LogSegment, bytes = segmentBytes): string => {
  const each = 2 ** 32 / bytes;
  return `${hex(timeline)}${hex(Math.floor(number / each))}${hex(number % each)}`;
};

/** Null if it is not the name of a segment. */
export const parseSegment = (name: string, bytes = segmentBytes): LogSegment | null => {
  if (!/^[0-9A-F]{24}$/.test(name)) return null;
  const [timeline, high, low] = [0, 8, 16].map(at => Number.parseInt(name.slice(at, at + 8), 16)) as [
    number,
    number,
    number,
  ];
  return { timeline, number: high * (2 ** 32 / bytes) + low };
};

export const nextSegment = ({ timeline, number }: LogSegment): LogSegment => ({ timeline, number: number + 1 });
