import type { Random } from '../fuzz/random.ts';
import { answer, command } from './commands.ts';
import { identityOf, type Site } from './site.ts';

export type DrillOptions = {
  /** Written before anything is backed up. */
  readonly payments: number;
  /** Created by the restored Florin. */
  readonly more: number;
  /** Pairs of measurements, each without and with a backup. */
  readonly rounds: number;
  readonly secondsEach: number;
  /** The least rate of creates during a backup, as a share of the rate without one. Null: it is only told. */
  readonly leastShare: number | null;
  readonly flips: number;
  /** Whether the log is archived, and played up to a time. */
  readonly withLog: boolean;
  readonly random: Random;
  /** Writes many payments faster than the API does. */
  readonly seed: ((site: Site, payments: number) => Promise<void>) | null;
  readonly tell: (text: string) => void;
};

export type Check = { readonly what: string; readonly problems: readonly string[] };

export type Drill = DrillOptions & { readonly site: Site; readonly checks: Check[] };

export const check = ({ checks, tell }: Drill, what: string, problems: readonly string[]): void => {
  checks.push({ what, problems });
  tell(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what}`);
  for (const problem of problems.slice(0, 10)) tell(`    ${problem}`);
};

export const wrong = (isWrong: boolean, problem: string): string[] => (isWrong ? [problem] : []);

export const take = async ({ site }: Drill, to: string, how: readonly string[] = ['--recipient', site.recipient]) => {
  const { json, seconds } = await answer(['backup', '--to', to, ...how, '--data-dir', site.dataDir]);
  return { file: json.file as string, bytes: json.bytes as number, seconds };
};

export const verify = (file: string, site: Site) => command(['backup', 'verify', file, '--identity', identityOf(site)]);

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
};

export type Finding = { readonly check: string; readonly ok: boolean; readonly detail: string };

/** What `florin doctor --deep` says against a restored Florin: the review must wait, and nothing else. */
export const findingsAgainst = async (dataDir: string): Promise<string[]> => {
  const doctor = await command(['doctor', '--deep', '--json', '--data-dir', dataDir]);
  const { findings } = JSON.parse(doctor.stdout) as { findings: Finding[] };
  const bad = findings.filter(({ ok }) => !ok);
  const unexpected = bad.filter(finding => finding.check !== 'restore');
  return [
    ...unexpected.map(finding => `${finding.check}: ${finding.detail}`),
    ...wrong(bad.length === unexpected.length, 'there is no review'),
  ];
};

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
