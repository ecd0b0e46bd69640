import type { ReactElement } from 'react';

const parts = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const;
const absolute = new Intl.DateTimeFormat('en-GB', parts);
const universal = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

export const relativeTo = (atMs: number, nowMs: number): string => {
  const differenceMs = atMs - nowMs;
  const [unit, size] = units.find(([, each]) => Math.abs(differenceMs) >= each) ?? units[3];
  return relative.format(Math.round(differenceMs / size), unit);
};

/** A time in the viewer's time zone. The tooltip shows the relative time and the time in UTC. */
export const Time = ({ at, none = '—' }: { at: string | null; none?: string }): ReactElement => {
  if (at === null) return <span>{none}</span>;
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={`${relativeTo(atMs, Date.now())} · ${universal.format(atMs)}`}>
      {absolute.format(atMs)}
    </time>
  );
};

/** A duration in readable units. */
export const durationText = (ms: number | null): string => {
  if (ms === null) return '—';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
};
