import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const florin = fileURLToPath(new URL('../../../bin/florin.js', import.meta.url));

export type Ended = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
};

/** Runs a command as an operator does. `onStderr` may kill it. */
export const command = (
  args: readonly string[],
  { env = {}, onStderr }: { env?: Record<string, string>; onStderr?: (text: string, kill: () => void) => void } = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const child = spawn(process.execPath, [florin, ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      onStderr?.(stderr, () => void child.kill('SIGKILL'));
    });
    child.once('error', reject);
    child.once('close', code => resolve({ code, stdout, stderr, seconds: (performance.now() - startedMs) / 1_000 }));
  });

/** Its answer, or an error with what it said. */
export const answer = async (args: readonly string[], env: Record<string, string> = {}) => {
  const ended = await command([...args, '--json'], { env });
  if (ended.code !== 0) throw new Error(`florin ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return { ...ended, json: JSON.parse(ended.stdout) };
};

/** Kills it with SIGKILL at the first sign of progress of what is named. */
export const killedInTheMiddle = (args: readonly string[], of: RegExp = / % of /): Promise<Ended> =>
  command(args, { onStderr: (text, kill) => (of.test(text) ? kill() : undefined) });
