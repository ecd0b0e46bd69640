import { type SpawnSyncOptionsWithStringEncoding, spawnSync } from 'node:child_process';

/** Runs a command to its end and returns what it prints. Its errors go to standard error. */
export const run = (command: string, args: readonly string[], cwd?: string): string => {
  const options: SpawnSyncOptionsWithStringEncoding = {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd === undefined ? {} : { cwd }),
  };
  const { status, signal, error, stdout } = spawnSync(command, args, options);
  if (error) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${signal ?? status}\n${stdout.slice(-2_000)}`);
  return stdout;
};
