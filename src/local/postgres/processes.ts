import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../core/errorCode.ts';
import { runCommand } from './runCommand.ts';

const psOptions = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, timeoutMs: 10_000 };

/** Whether the process is the postmaster of this cluster, not another process with a reused id. */
export const isPostmasterOf = async (pid: number, cluster: string): Promise<boolean> =>
  (await commandOf(pid)).includes(` -D ${cluster} -c `);

/** The command line, arguments separated by spaces; empty for a process that has ended. */
const commandOf = async (pid: number): Promise<string> => {
  if (process.platform !== 'linux') {
    return (await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)], psOptions)).stdout;
  }
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
};

/** Ends every process, with its group, that was started with a data directory below this path prefix. */
export const endProcessesOn = async (pathPrefix: string): Promise<void> => {
  await endAll(`an interrupted start on ${pathPrefix}*`, () => processesOn(pathPrefix));
};

/**
 * Ends the remaining processes of a server that is gone. Most notice its end by themselves, but one that waits for a
 * lock whose holder was killed would wait for ever, and no new server starts beside it.
 */
export const endOrphansOf = async (cluster: string): Promise<void> => {
  await endAll(`an earlier server on ${cluster}`, async () => {
    const found: number[] = [];
    for (const pid of await processesIn(cluster)) {
      // Other processes, such as a shell, may have this working directory.
      if ((await commandOf(pid)).startsWith('postgres: ')) found.push(pid);
    }
    return found;
  });
};

const endAll = async (what: string, find: () => Promise<number[]>): Promise<void> => {
  const attempts = 100;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await find();
    if (found.length === 0) return;
    for (const pid of found) {
      // Each leads a process group; the processes it started there end with it.
      if (!sendSignal(-pid, 'SIGKILL')) sendSignal(pid, 'SIGKILL');
    }
    await pause(50);
  }
  throw new Error(`Processes of ${what} cannot be stopped. Stop them by hand.`);
};

/** The processes with this working directory. */
const processesIn = async (directory: string): Promise<number[]> => {
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('/usr/sbin/lsof', ['-t', '-a', '-d', 'cwd', '--', directory], psOptions);
    return stdout.split('\n').filter(Boolean).map(Number);
  }
  const found: number[] = [];
  for (const pid of await processIds()) {
    try {
      if ((await readlink(`/proc/${pid}/cwd`)) === directory) found.push(pid);
    } catch (error) {
      // The process has ended, or we may not read it; then it does not belong to our server.
      if (!hasCode(error, 'ENOENT', 'ESRCH', 'EACCES')) throw error;
    }
  }
  return found;
};

const processesOn = async (pathPrefix: string): Promise<number[]> => {
  const found: number[] = [];
  const matches = (command: string) => command.includes(` -D ${pathPrefix}`);
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('ps', ['-axww', '-o', 'pid=,command='], psOptions);
    for (const line of stdout.split('\n')) if (matches(line)) found.push(Number.parseInt(line, 10));
    return found;
  }
  for (const pid of await processIds()) if (matches(await commandOf(pid))) found.push(pid);
  return found;
};

const processIds = async (): Promise<number[]> =>
  (await readdir('/proc')).filter(entry => /^\d+$/.test(entry)).map(Number);

/** False when the process no longer exists. */
export const sendSignal = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
};
