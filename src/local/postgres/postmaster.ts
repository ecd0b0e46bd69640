import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { type Account, invokeAs } from './account.ts';
import type { PostgresBinaries } from './locatePostgres.ts';
import { readPostmasterFile } from './postmasterFile.ts';
import { isPostmasterOf, sendSignal } from './processes.ts';

/** A running server. `exited` resolves when it has ended, for whatever reason. */
export type Postmaster = { readonly pid: number; readonly exited: Promise<void> };

type Launch = {
  cluster: string;
  binaries: PostgresBinaries;
  account: Account;
  args: readonly string[];
  logDescriptor: number;
};

const pollMs = 25;
const adoptedPollMs = 500;

/** Starts a server that survives this process and signals from its terminal. */
export const spawnPostmaster = (launch: Launch): Promise<Postmaster> => {
  const { cluster, binaries, account, args, logDescriptor } = launch;
  const invocation = invokeAs(account, binaries.postgres, ['-D', cluster, ...args]);
  const child = spawn(invocation.command, invocation.args, {
    ...invocation.identity,
    cwd: '/',
    env: binaries.environment,
    detached: true,
    stdio: ['ignore', logDescriptor, logDescriptor],
  });
  child.unref();
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('spawn', () => resolve({ pid: child.pid!, exited }));
  });
};

/** The server that a killed parent left running on the cluster, if any. */
export const findPostmaster = async (cluster: string): Promise<Postmaster | null> => {
  const file = await readPostmasterFile(cluster);
  if (file === null || !(await isPostmasterOf(file.pid, cluster))) return null;
  return { pid: file.pid, exited: watchUntilGone(file.pid, cluster) };
};

/** A process that is not a child reports no exit, so it is polled. */
const watchUntilGone = async (pid: number, cluster: string): Promise<void> => {
  while (await isPostmasterOf(pid, cluster)) await pause(adoptedPollMs, undefined, { ref: false });
};

/** Waits until the server accepts connections; false if it does not. Recovery after a crash may take minutes. */
export const waitUntilReady = async (
  postmaster: Postmaster,
  cluster: string,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<boolean> => {
  let gone = false;
  void postmaster.exited.then(() => {
    gone = true;
  });
  const deadline = performance.now() + options.timeoutMs;
  while (!gone && !options.signal.aborted && performance.now() < deadline) {
    const file = await readPostmasterFile(cluster);
    if (file?.pid === postmaster.pid && file.status === 'ready') return true;
    await pause(pollMs);
  }
  return false;
};

/** Ends a server: first with a fast shutdown, then without a checkpoint, at last by force. */
export const endPostmaster = async (postmaster: Postmaster, cluster: string, log: Log): Promise<void> => {
  const steps = [
    { signal: 'SIGINT', patienceMs: 30_000 },
    { signal: 'SIGQUIT', patienceMs: 10_000 },
    { signal: 'SIGKILL', patienceMs: 10_000 },
  ] as const;
  for (const { signal, patienceMs } of steps) {
    if (!(await isPostmasterOf(postmaster.pid, cluster))) return;
    if (signal !== 'SIGINT')
      log.warn({ pid: postmaster.pid, signal }, 'PostgreSQL does not stop; sending a stronger signal');
    if (!sendSignal(postmaster.pid, signal)) return;
    if (await endsWithin(postmaster, patienceMs)) return;
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) cannot be stopped. Stop it by hand.`);
};

const endsWithin = async (postmaster: Postmaster, patienceMs: number): Promise<boolean> => {
  const giveUp = new AbortController();
  const patience = pause(patienceMs, false, { signal: giveUp.signal }).catch(() => false);
  const ended = await Promise.race([postmaster.exited.then(() => true), patience]);
  giveUp.abort();
  return ended;
};
