import { type SpawnOptions, spawn } from 'node:child_process';

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type CommandOptions = Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> & {
  env: Readonly<Record<string, string>>;
  input?: string;
  timeoutMs: number;
};

const outputLimit = 1024 * 1024;

/** Runs a command to its end. The exit code is null if it cannot be started. */
export const runCommand = (
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> => {
  const { env, input, timeoutMs, ...rest } = options;
  return new Promise(resolve => {
    // Its own process group, so that a later start can end it together with the processes it started.
    const child = spawn(command, args, { cwd: '/', ...rest, env, detached: true, timeout: timeoutMs, stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-outputLimit);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-outputLimit);
    });
    child.on('error', error => resolve({ code: null, stdout, stderr: error.message }));
    child.on('close', code => resolve({ code, stdout, stderr }));
    // A command that ends before it has read everything is judged by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
};
