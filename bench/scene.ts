import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findPostgres, findSuperuser, type PostgresConnection } from '../src/local/postgres/startPostgres.ts';

const run = promisify(execFile);
const entry = new URL('../bin/florin.js', import.meta.url).pathname;

/** A real Florin in its own process, on the embedded PostgreSQL, as `npm start` runs it. */
export type Scene = {
  readonly dataDir: string;
  readonly ca: string;
  readonly sandboxPort: number;
  readonly accountId: string;
  readonly key: string;
  readonly pid: number;
  readonly database: PostgresConnection;
  readonly superuser: PostgresConnection;
  florin(...args: string[]): Promise<Record<string, string>>;
  stop(): Promise<void>;
};

const waitUntilReady = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    const toSee = `npx florin ${child.spawnargs.slice(child.spawnargs.indexOf('start')).join(' ')}`;
    child.once('exit', code => reject(new Error(`florin exited with code ${code}. To see why, run: ${toSee}`)));
    createInterface({ input: child.stdout! }).on('line', line => {
      const port = /sandbox +https:\/\/localhost:(\d+)/.exec(line)?.[1];
      if (port) resolve(Number(port));
    });
  });

export const startScene = async (dataDir: string, settings: Readonly<Record<string, string>> = {}): Promise<Scene> => {
  const args = [entry, 'start', '--data-dir', dataDir, '--port', '0', '--sandbox-port', '0'];
  const child = spawn(process.execPath, [...(process.env.BENCH_NODE_ARGS?.split(' ') ?? []), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, FLORIN_LOG_LEVEL: 'info', ...settings },
  });
  const sandboxPort = await waitUntilReady(child);
  const florin: Scene['florin'] = async (...words) => {
    const { stdout } = await run(process.execPath, [entry, ...words, '--data-dir', dataDir, '--json']);
    return JSON.parse(stdout);
  };
  const limits = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const account = await florin('accounts', 'create', '--name', 'Bench', ...limits);
  const key = await florin('keys', 'create', '--account', account.id!, '--environment', 'sandbox');
  return {
    dataDir,
    ca: await readFile(join(dataDir, 'tls', 'ca.pem'), 'utf8'),
    sandboxPort,
    accountId: account.id!,
    key: key.key!,
    pid: child.pid!,
    database: (await findPostgres({ dataDir }))!.owner,
    superuser: (await findSuperuser({ dataDir }))!,
    florin,
    stop: () =>
      new Promise(resolve => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
};
