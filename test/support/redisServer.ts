import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { atEndOfFile } from './endOfFile.ts';
import { findRedis } from './findRedis.ts';

export type RedisServer = {
  readonly port: number;
  readonly url: string;
  pause(): void;
  resume(): void;
  /** Without a chance to say goodbye. */
  kill(): Promise<void>;
  /** On the same port, with nothing in it. */
  start(): Promise<void>;
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

const launch = async (folder: string, port: number, more: readonly string[]): Promise<ChildProcess> => {
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn(findRedis()!, [...args, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`Redis ended with ${code}:\n${lines.join('\n')}`)));
    child.once('error', reject);
    createInterface({ input: child.stdout! }).on('line', line => {
      lines.push(line);
      if (/ready to accept connections/i.test(line)) resolve();
    });
  });
  return child;
};

/** A real server on loopback that keeps nothing on disk. It ends with the test file at the latest. */
export const startRedis = async (...more: string[]): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-redis-'));
  const port = await freePort();
  let child: ChildProcess | null = await launch(folder, port, more);
  const kill = async (): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGKILL');
    await gone;
  };
  atEndOfFile(async () => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child!.kill('SIGSTOP'),
    resume: () => void child!.kill('SIGCONT'),
    kill,
    async start() {
      child = await launch(folder, port, more);
    },
  };
};
