import { invalid } from '../../core/errors.ts';

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?$/;

const dayMs = 86_400_000;

const offsetMinutes = (text: string | undefined): number => {
  if (text === undefined || text.toUpperCase() === 'Z') return 0;
  const digits = text.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return text.startsWith('-') ? -minutes : minutes;
};

/**
 * Parses ISO 8601. A date without a time means the whole UTC day: its first millisecond for `from`, its last for `to`.
 * A time without an offset is UTC. Digits after the millisecond are dropped; `from` is then rounded up, so that nothing
 * earlier matches.
 */
export const parseTime = (param: 'from' | 'to', text: string): number => {
  const refuse = () => invalid(param, `${param} must be an ISO 8601 date or time, for example 2026-01-31T12:00:00Z.`);
  const match = pattern.exec(text);
  if (!match) throw refuse();
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  const isRealDay = date.getUTCFullYear() === y && date.getUTCMonth() === mo - 1 && date.getUTCDate() === d;
  const offset = offsetMinutes(zone);
  const isMidnightAtEnd = h === 24 && mi === 0 && s === 0 && Number(fraction) === 0;
  if (!isRealDay || (h > 23 && !isMidnightAtEnd) || mi > 59 || s > 59 || Math.abs(offset) > 14 * 60) throw refuse();
  if (match[4] === undefined) return date.getTime() + (param === 'to' ? dayMs - 1 : 0);
  const finer = Number(fraction.slice(3) || 0) > 0;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0')) + (finer && param === 'from' ? 1 : 0);
  return date.getTime() + ((h * 60 + mi - offset) * 60 + s) * 1000 + ms;
};
