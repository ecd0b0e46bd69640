import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isPostmasterOf, sendSignal } from '../../../src/local/postgres/processes.ts';

const florinPath = fileURLToPath(new URL('../../../bin/florin.js', import.meta.url));
const run = promisify(execFile);

export type Ready = { readonly sandboxUrl: string; readonly productionUrl: string; readonly ca: string };

/** A Florin as an operator would start it, in a process of its own. */
export type FlorinProcess = {
  readonly pid: number;
  /** Settles when it says that it is ready; fails when it ends before that. */
  readonly ready: Promise<Ready>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The end of what it wrote, for people. */
  output(): string;
};

const outputCharacters = 20_000;

/** The directory it is started in, with its configuration file, and further settings. */
export type Surroundings = {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The program, where it is of another version. */
  readonly program?: string;
  /** Of production and sandbox. Default: free ones. */
  readonly ports?: readonly [number, number];
};

/** Only what a start needs; nothing of the caller's own settings. Nothing is delivered unless a campaign says so. */
const environmentOf = (dataDir: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  FLORIN_DATA_DIR: dataDir,
  FLORIN_LOG_LEVEL: 'warn',
  FLORIN_ROLES: 'api,watch',
  ...env,
});

const readAnnouncement = async (stdout: string): Promise<Ready | null> => {
  if (!stdout.includes('Florin is ready')) return null;
  const line = (name: string): string | undefined => new RegExp(`^  ${name} +(\\S.*)$`, 'm').exec(stdout)?.[1];
  const [sandboxUrl, productionUrl, caPath] = [line('sandbox'), line('production'), line('local CA')];
  if (!sandboxUrl || !productionUrl || !caPath) return null;
  return { sandboxUrl, productionUrl, ca: await readFile(caPath, 'utf8') };
};

const watchReady = (child: ChildProcess, exited: Promise<unknown>, output: () => string): Promise<Ready> =>
  new Promise((resolve, reject) => {
    let stdout = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-outputCharacters);
      void readAnnouncement(stdout).then(ready => ready && resolve(ready), reject);
    });
    void exited.then(how => reject(new Error(`Florin ended before it was ready: ${JSON.stringify(how)}\n${output()}`)));
  });

const living = new Set<number>();
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A campaign that is ended from outside takes along what it has started. */
const endAll = (): void => {
  for (const pid of living) sendSignal(pid, 'SIGTERM');
  process.exit(1);
};

export const launchFlorin = (
  dataDir: string,
  nodeOptions: readonly string[] = [],
  { cwd, env, program = florinPath, ports = [0, 0] }: Surroundings = {},
): FlorinProcess => {
  const args = [...nodeOptions, program, 'start', '--port', `${ports[0]}`, '--sandbox-port', `${ports[1]}`];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
    env: environmentOf(dataDir, env),
  });
  let written = '';
  const keep = (text: string): void => {
    written = (written + text).slice(-outputCharacters);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const exited: FlorinProcess['exited'] = new Promise(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  const pid = child.pid!;
  if (living.size === 0) for (const signal of endings) process.on(signal, endAll);
  living.add(pid);
  void exited.then(() => {
    living.delete(pid);
    if (living.size === 0) for (const signal of endings) process.off(signal, endAll);
  });
  const output = (): string => written;
  const ready = watchReady(child, exited, output);
  // A process killed on purpose before it is ready is not a failure if nobody waits for it.
  ready.catch(() => {});
  return { pid, ready, exited, output };
};

/** A promise with an end: `null` when the time is over first. */
export const within = async <T>(work: Promise<T>, timeoutMs: number): Promise<T | null> => {
  const giveUp = new AbortController();
  const late = pause(timeoutMs, null, { signal: giveUp.signal }).catch(() => null);
  try {
    return await Promise.race([work, late]);
  } finally {
    giveUp.abort();
  }
};

/** A command beside the server; its answer as JSON. */
export const runFlorin = async (
  dataDir: string,
  args: readonly string[],
  { cwd, env, program = florinPath }: Surroundings = {},
): Promise<Record<string, unknown>> => {
  const { stdout } = await run(process.execPath, [program, ...args, '--json'], {
    cwd,
    env: environmentOf(dataDir, env),
    timeout: 60_000,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
};

/** The server process of the data directory, or null where none runs. */
export const findPostmaster = async (dataDir: string): Promise<number | null> => {
  const cluster = join(await realpath(dataDir), 'postgres', 'cluster');
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 0 && (await isPostmasterOf(pid, cluster)) ? pid : null;
};

/** Kills the server of the data directory, by its process id. */
export const killPostmaster = async (dataDir: string): Promise<boolean> => {
  const pid = await findPostmaster(dataDir);
  return pid !== null && sendSignal(pid, 'SIGKILL');
};

/** Asks it to stop, and ends it when it does not. True when it stopped by itself. */
export const stopFlorin = async (florin: FlorinProcess, dataDir: string): Promise<boolean> => {
  sendSignal(florin.pid, 'SIGTERM');
  const how = await within(florin.exited, 60_000);
  if (how === null) sendSignal(florin.pid, 'SIGKILL');
  await florin.exited;
  await killPostmaster(dataDir);
  return how?.code === 0;
};
