import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const sampleMs = 250;

/** Resident memory of a process over time, by how far the campaign was. */
export type MemoryRecord = {
  /** The median of the samples taken while the share done was in this range, in MiB. */
  between(from: number, to: number): number;
  stop(): void;
};

const residentMib = async (pid: number): Promise<number> => {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
};

export const recordMemory = (pid: number, shareDone: () => number): MemoryRecord => {
  const samples: { share: number; mib: number }[] = [];
  const timer = setInterval(() => {
    residentMib(pid).then(
      mib => samples.push({ share: shareDone(), mib }),
      // A process that is gone has no memory; that it is gone is found out elsewhere.
      () => {},
    );
  }, sampleMs);
  return {
    between(from, to) {
      const some = samples.filter(({ share }) => share >= from && share <= to).map(({ mib }) => mib);
      return some.sort((a, b) => a - b)[some.length >> 1] ?? Number.NaN;
    },
    stop: () => clearInterval(timer),
  };
};
