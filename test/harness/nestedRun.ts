import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEndOfFile } from '../support/endOfFile.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

export type NestedRun = {
  readonly child: ChildProcess;
  /** Its exit code and all that it printed. */
  readonly ended: Promise<{ code: number | null; output: string }>;
};

/** A run of some tests inside of this one, in a process group of its own as a terminal would give it. */
export const startRun = (args: readonly string[], env: Record<string, string> = {}): NestedRun => {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_ENV$/.test(name)),
  );
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: root,
    env: { ...inherited, NO_COLOR: '1', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text));
  const ended = new Promise<{ code: number | null; output: string }>(resolve =>
    child.once('close', code => resolve({ code, output })),
  );
  atEndOfFile(() => child.exitCode ?? child.signalCode ?? child.kill('SIGKILL'));
  return { child, ended };
};
