import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findRedis } from './findRedis.ts';
import { freePort } from './freePort.ts';

export type RedisServer = {
  readonly port: number;
  readonly url: string;
  pause(): void;
  resume(): void;
  /** Without a chance to say goodbye. */
  kill(): Promise<void>;
  /** On the same port, with nothing in it. */
  start(): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
};

const ready = /ready to accept connections|\+monitor master/i;

const launch = async (args: readonly string[]): Promise<ChildProcess> => {
  const child = spawn(findRedis()!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`Redis ended with ${code}:\n${lines.join('\n')}`)));
    child.once('error', reject);
    createInterface({ input: child.stdout! }).on('line', line => {
      lines.push(line);
      if (ready.test(line)) resolve();
    });
  });
  return child;
};

const keep = async (port: number, folder: string, args: readonly string[]): Promise<RedisServer> => {
  let child: ChildProcess | null = await launch(args);
  const kill = async (): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child!.kill('SIGSTOP'),
    resume: () => void child!.kill('SIGCONT'),
    kill,
    async start() {
      child = await launch(args);
    },
    async end() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** A real server on loopback that keeps nothing on disk. */
export const launchRedis = async (...more: string[]): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-redis-'));
  const port = await freePort();
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder];
  return keep(port, folder, [...args, ...more]);
};

/** A real sentinel that decides alone, and soon, that the server it calls `main` is gone. */
export const launchSentinel = async (server: RedisServer, more: readonly string[] = []): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-sentinel-'));
  const port = await freePort();
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${server.port} 1`,
    'sentinel down-after-milliseconds main 500',
    ...more,
  ];
  const path = join(folder, 'sentinel.conf');
  await writeFile(path, `${lines.join('\n')}\n`);
  return keep(port, folder, [path, '--sentinel']);
};
