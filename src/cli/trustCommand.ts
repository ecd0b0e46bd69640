import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { shellQuoted } from '../http/docs/docsPlace.ts';
import { type Common, common } from './commands.ts';
import { loadConfig } from './config.ts';
import { type Authority, debianStore, type TrustStep, trustSteps } from './trustSteps.ts';

type Options = Common & { install?: boolean; system?: boolean; yes?: boolean };
type Outcome = 'printed' | 'installed' | 'skipped' | 'missing program' | 'failed';

const lineOf = (command: readonly string[]): string =>
  command.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word))).join(' ');

const findAuthority = async (options: Common): Promise<Authority> => {
  const { dataDir, tls } = await loadConfig({ flags: { dataDir: options.dataDir } });
  if (tls)
    throw new FlorinError('conflict', 'Florin uses your own certificate (FLORIN_TLS_CERT), so it has no local CA.');
  const path = join(dataDir, 'tls', 'ca.pem');
  try {
    const { subject } = new X509Certificate(await readFile(path));
    return { path, name: /^CN=(.+)$/m.exec(subject)![1]! };
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new FlorinError('conflict', `There is no ${path}. Start Florin once: the first start creates it.`);
  }
};

/**
 * Inherits the terminal, because sudo and macOS may ask for a password. Returns the exit code; null if the program is
 * missing.
 */
const runCommand = ([program, ...args]: readonly string[]): Promise<number | null> =>
  new Promise((resolve, reject) => {
    // Sends its output to stderr, because stdout may be our JSON.
    const child = spawn(program!, args, { stdio: ['inherit', 2, 2] });
    child.once('error', error => (hasCode(error, 'ENOENT') ? resolve(null) : reject(error)));
    child.once('close', code => resolve(code ?? 1));
  });

const confirm = async (step: TrustStep): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const commands = step.commands.map(command => `  ${lineOf(command)}`).join('\n');
    const answer = await terminal.question(`${step.store}:\n${commands}\nRun this? [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
};

const install = async (step: TrustStep, options: Options): Promise<Outcome> => {
  if (step.isPrivileged && !options.system) return 'skipped';
  if (!options.yes && !(await confirm(step))) return 'skipped';
  for (const command of step.commands) {
    const code = await runCommand(command);
    if (code === null) return 'missing program';
    if (code !== 0) return 'failed';
  }
  return 'installed';
};

const textOf = (step: TrustStep, outcome: Outcome): string => {
  const needs =
    step.needs === null
      ? ''
      : ` (needs ${step.needs.program}; on Debian and Ubuntu: sudo apt-get install ${step.needs.package})`;
  const commands = step.commands.map(command => `  ${lineOf(command)}`).join('\n');
  if (outcome === 'printed') return `${step.store}${needs}:\n${commands}`;
  return `${step.store}: ${outcome}${outcome === 'missing program' ? needs : ''}`;
};

export const addTrustCommand = (program: Command): void => {
  const description = 'Show how to make your browser trust the local CA of Florin, or do it.';
  common(program.command('trust').description(description))
    .option('--install', 'Run the commands for your browsers. Asks before each.')
    .option('--system', 'With --install: also run the commands that need sudo.')
    .option('--yes', 'With --install: do not ask.')
    .action(async (options: Options) => {
      const ca = await findAuthority(options);
      if (options.install && !options.yes && !process.stdin.isTTY)
        throw invalid('yes', 'There is no terminal to ask on. Give --yes to run the commands without a question.');
      const machine = {
        platform: process.platform,
        home: homedir(),
        isRoot: process.getuid?.() === 0,
        hasDebianStore: existsSync(debianStore),
      };
      const done: { step: TrustStep; outcome: Outcome }[] = [];
      for (const step of trustSteps(machine, ca))
        done.push({ step, outcome: options.install ? await install(step, options) : 'printed' });
      const steps = done.map(({ step, outcome }) => ({ ...step, commands: step.commands.map(lineOf), outcome }));
      const text = done.map(({ step, outcome }) => textOf(step, outcome)).join('\n');
      const lead = `The local CA is ${ca.path}. It can only sign certificates for this machine.`;
      const next = options.install ? 'Restart your browser.' : 'Run these commands, or: npx florin trust --install';
      console.log(options.json ? JSON.stringify({ ca: ca.path, steps }) : `${lead}\n\n${text}\n\n${next}`);
      if (done.some(({ outcome }) => outcome === 'failed' || outcome === 'missing program')) process.exitCode = 1;
    });
};
