import { execFile } from 'node:child_process';
import { readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median, round } from './figures.ts';

const run = promisify(execFile);
const here = new URL('../', import.meta.url).pathname;
const git = (...args: string[]) => run('git', ['-C', here, ...args]);

/** Another revision in a folder of its own, with its dependencies. */
const checkOut = async (revision: string, folder: string): Promise<void> => {
  await git('worktree', 'add', '--detach', folder, revision);
  const lockOf = (tree: string): Promise<string> => readFile(join(tree, 'package-lock.json'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(here))) {
    await symlink(join(here, 'node_modules'), join(folder, 'node_modules'));
  } else {
    await run('npm', ['ci'], { cwd: folder });
  }
};

/** One round of one benchmark in a process of its own; a missed target ends it with 1 and is not of interest here. */
const runOnce = async (tree: string, name: string, args: readonly string[]): Promise<string[]> => {
  const command = [join(tree, 'bench', 'run.ts'), name, '--rounds', '1', ...args];
  const { stdout } = await run(process.execPath, command, { cwd: tree, maxBuffer: 2 ** 24 }).catch(error => {
    if (error.code === 1 && error.stdout.includes('met their targets')) return error as { stdout: string };
    throw error;
  });
  return stdout.split('\n').filter(line => /\d/.test(line) && !/^ +.*\bround \d|met their targets/.test(line));
};

const numbers = /\d+(?:\.\d+)?/g;

/** Lines of equal words are the same figure. */
type Figures = Map<string, number[][]>;
const collect = (figures: Figures, lines: readonly string[]): void => {
  for (const line of lines) {
    const words = line.replaceAll(numbers, '#');
    const values = line.match(numbers)!.map(Number);
    figures.set(words, [...(figures.get(words) ?? []), values]);
  }
};

const mediansOf = (rows: readonly number[][]): number[] =>
  rows[0]!.map((_, at) => round(median(rows.map(row => row[at]!))));
const fill = (words: string, values: readonly (number | string)[]): string => {
  let at = 0;
  return words.replaceAll('#', () => String(values[at++]));
};

const report = (revision: string, theirs: Figures, ours: Figures): void => {
  for (const [words, rows] of ours) {
    const now = mediansOf(rows);
    console.log(`\nnow:      ${fill(words, now).trim()}`);
    const before = theirs.get(words);
    if (!before) continue;
    const past = mediansOf(before);
    console.log(`${`${revision}:`.padEnd(9)} ${fill(words, past).trim()}`);
    const ratios = now.map((value, at) => (past[at] === 0 ? '–' : round(value / past[at]!, 3)));
    console.log(`ratios:   ${ratios.join(', ')}`);
  }
};

/**
 * Runs benchmarks here and at another revision by turns, and compares the medians of what they print. Which turn comes
 * first changes from round to round.
 */
export const benchAgainst = async (
  revision: string,
  names: readonly string[],
  { rounds, args }: { rounds: number; args: readonly string[] },
): Promise<void> => {
  const folder = join(tmpdir(), `florin-against-${process.pid}`);
  try {
    await checkOut(revision, folder);
    for (const name of names) {
      const [theirs, ours]: [Figures, Figures] = [new Map(), new Map()];
      for (let i = 0; i < rounds; i++) {
        const turns = [() => runOnce(folder, name, args).then(lines => collect(theirs, lines))];
        turns.push(() => runOnce(here, name, args).then(lines => collect(ours, lines)));
        if (i % 2 === 1) turns.reverse();
        for (const turn of turns) await turn();
        console.log(`  ${name}, round ${i + 1} of ${rounds}`);
      }
      report(revision, theirs, ours);
    }
  } finally {
    await git('worktree', 'remove', '--force', folder).catch(() => rm(folder, { recursive: true, force: true }));
  }
};
