import { readFileSync } from 'node:fs';

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
};

const ticksPerSecond = 100;

/** CPU time of processes so far, in seconds. Linux only; elsewhere it is not reported. */
export const cpuSeconds = (pids: readonly number[]): number => {
  let ticks = 0;
  for (const pid of pids) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      return Number.NaN;
    }
  }
  return ticks / ticksPerSecond;
};

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
