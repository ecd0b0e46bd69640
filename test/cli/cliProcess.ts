import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { atEndOfFile } from '../support/endOfFile.ts';
import { eventually } from '../support/until.ts';

const florin = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));
const longestRunMs = 50_000;

export type Ended = { code: number | null; stdout: string; stderr: string };

export type CliProcess = {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** Reads nothing more of what it writes: its next write fails. */
  leave(): void;
  readonly ended: Promise<Ended>;
};

/** A directory that an unprivileged database server may enter. */
export const makeRoom = async (): Promise<string> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-cli-'));
  await chmod(room, 0o755);
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  return room;
};

/** The program as a user runs it, in `room`, with none of this process's settings but the ones given. */
export const launch = (args: readonly string[], room: string, env: Record<string, string> = {}): CliProcess => {
  const child = spawn(process.execPath, [florin, ...args], {
    cwd: room,
    env: { PATH: process.env.PATH, HOME: room, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve({ code, stdout, stderr }));
  });
  atEndOfFile(() => {
    child.kill('SIGTERM');
    return ended;
  });
  return {
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: signal => void child.kill(signal),
    leave() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    ended,
  };
};

/** Runs a command to its end. */
export const run = async (args: readonly string[], room: string, env: Record<string, string> = {}): Promise<Ended> => {
  const command = launch(args, room, env);
  const timer = setTimeout(() => command.kill('SIGKILL'), longestRunMs);
  try {
    return await command.ended;
  } finally {
    clearTimeout(timer);
  }
};

export type Server = CliProcess & { readonly urls: { production: string; sandbox: string }; readonly ca: string };

/** `florin start` in `room`, once it says that it is ready. */
export const startServer = async (
  room: string,
  options: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Server> => {
  const args = ['start', ...(options.args ?? ['--port', '0', '--sandbox-port', '0'])];
  const server = launch(args, room, { FLORIN_LOG_LEVEL: 'warn', ...options.env });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  void server.ended.then(({ code, stderr }) => reject(new Error(`florin start ended with ${code}: ${stderr}`)));
  const line = (name: string) => new RegExp(`^ +${name} +(\\S+)`, 'm').exec(server.stdout())?.[1];
  const ready = eventually(() => expect(server.stdout(), server.stderr()).toMatch(/Florin is ready[\s\S]*\n\n/));
  await Promise.race([failed, ready]).catch(error => {
    server.kill('SIGKILL');
    throw error;
  });
  const urls = { production: line('production')!, sandbox: line('sandbox')! };
  return { ...server, urls, ca: await readFile(line('local CA')!, 'utf8') };
};
