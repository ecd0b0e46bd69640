import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { LiveFinding } from '../../../src/cli/live/checklist.ts';
import type { Hands } from './hands.ts';
import type { DeployingPage, Step } from './page.ts';
import type { Shell } from './shell.ts';

/** Green from the beginning, because it is optional. */
const optional = 'mail';

type Looked = { readonly code: number; readonly lines: readonly LiveFinding[]; readonly problems: readonly string[] };

/** `florin doctor --live`, by the command that the page makes. */
const look = (): Promise<Looked> =>
  new Promise((resolve, reject) => {
    execFile('/usr/local/bin/florin', ['doctor', '--live', '--json'], (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      try {
        const { findings, live } = JSON.parse(stdout) as {
          findings: { check: string; ok: boolean; detail: string }[];
          live: LiveFinding[];
        };
        const problems = findings.filter(({ ok }) => !ok).map(({ check, detail }) => `${check}: ${detail}`);
        resolve({ code, lines: live, problems });
      } catch {
        reject(new Error(`florin doctor --live --json ended with ${code}: ${stdout}${stderr}`));
      }
    });
  });

/** The line of a step, once it and those before it are green or the time is over: starts and backups need a moment. */
const lineOf = async ({ number }: Step, patienceMs: number): Promise<Looked & { readonly line: LiveFinding }> => {
  for (const endMs = performance.now() + patienceMs; ; await pause(500)) {
    const looked = await look();
    const line = looked.lines[number - 1]!;
    const isGreen = looked.lines.slice(0, number).every(({ ok }) => ok);
    if (isGreen || performance.now() >= endMs) return { ...looked, line };
  }
};

export type DrillParts = {
  readonly page: DeployingPage;
  readonly shell: Shell;
  readonly hands: Hands;
  readonly patienceMs: number;
  readonly tell: (text: string) => void;
};

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1_000).toFixed(1);

/** Does a step. Returns what is wrong. */
const follow = async (step: Step, { shell, hands, patienceMs, tell }: DrillParts): Promise<string[]> => {
  const name = step.name!;
  const before = (await lineOf(step, 0)).line;
  const startedMs = performance.now();
  await hands.before[name]?.();
  let printed = '';
  for (const script of step.scripts) printed += await shell.run(script);
  await hands.after[name]?.(printed);
  const { line, lines } = await lineOf(step, patienceMs);
  tell(
    `${String(step.number).padStart(2)} ${name.padEnd(16)} ${before.ok ? 'green' : 'red'} → ${line.ok ? 'green' : 'red'}  ${seconds(startedMs)} s  ${line.detail}`,
  );
  const earlier = lines.filter(each => each.number < step.number && !each.ok);
  return [
    ...(line.check === name ? [] : [`line ${step.number} is ${line.check}, and the step is ${name}`]),
    ...(before.ok === (name === optional) ? [] : [`${name} was ${before.ok ? 'green' : 'red'} before its step`]),
    ...(line.ok ? [] : [`${name} is red after its step: ${line.detail}`]),
    ...earlier.map(each => `${each.check} is red again after ${name}: ${each.detail}`),
  ];
};

/** Follows the page from its beginning to its end. Returns what is wrong. */
export const runDeployDrill = async (parts: DrillParts): Promise<string[]> => {
  const { page, shell, tell } = parts;
  const problems: string[] = [];
  const around = (number: number): readonly string[] =>
    page.steps.filter(step => step.number === number).flatMap(({ scripts }) => scripts);
  for (const script of around(0)) await shell.run(script);
  const steps = page.steps.filter(({ name }) => name !== null);
  const first = await look();
  if (steps.length !== first.lines.length) problems.push(`${steps.length} steps and ${first.lines.length} lines`);
  for (const step of steps) problems.push(...(await follow(step, parts)));
  for (const script of around(Number.POSITIVE_INFINITY)) tell(await shell.run(script));
  const last = await look();
  if (last.code !== 0) problems.push(`florin doctor --live ends with ${last.code}: ${last.problems.join('; ')}`);
  return problems;
};
