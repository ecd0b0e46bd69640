import { join } from 'node:path';
import type { Random } from '../fuzz/random.ts';
import { answer, command } from './commands.ts';
import type { Site } from './site.ts';

export type DrillOptions = {
  /** Written before anything is backed up. */
  readonly payments: number;
  /** Created by the restored Florin. */
  readonly more: number;
  /** Pairs of measurements, each without and with a backup. */
  readonly rounds: number;
  readonly secondsEach: number;
  readonly flips: number;
  readonly random: Random;
  /** Writes many payments faster than the API does. */
  readonly seed: ((site: Site, payments: number) => Promise<void>) | null;
  readonly tell: (text: string) => void;
};

export type Check = { readonly what: string; readonly problems: readonly string[] };

export type Drill = DrillOptions & { readonly site: Site; readonly checks: Check[]; readonly recipient: string };

export const identityOf = ({ room }: Site): string => join(room, 'identity');

export const check = ({ checks, tell }: Drill, what: string, problems: readonly string[]): void => {
  checks.push({ what, problems });
  tell(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
  for (const problem of problems.slice(0, 10)) tell(`    ${problem}`);
};

export const wrong = (isWrong: boolean, problem: string): string[] => (isWrong ? [problem] : []);

export const take = async (
  { site, recipient }: Drill,
  to: string,
  how: readonly string[] = ['--recipient', recipient],
) => {
  const { json, seconds } = await answer(['backup', '--to', to, ...how, '--data-dir', site.dataDir]);
  return { file: json.file as string, bytes: json.bytes as number, seconds };
};

export const verify = (file: string, site: Site) => command(['backup', 'verify', file, '--identity', identityOf(site)]);

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
