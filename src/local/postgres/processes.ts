import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../core/errorCode.ts';
import { runCommand } from './runCommand.ts';

const psOptions = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, timeoutMs: 10_000 };

/** Whether the process is the postmaster of this cluster, and not another one that has come by the same id. */
export async function isPostmasterOf(pid: number, cluster: string): Promise<boolean> {
  return (await commandOf(pid)).includes(` -D ${cluster} -c `);
}

/** The command line, arguments separated by spaces; empty for a process that is gone or only waits to be reaped. */
async function commandOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    return (await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)], psOptions)).stdout;
  }
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}

/** Ends every process, with its group, that was started with a data directory whose path begins like this. */
export async function endProcessesOn(pathPrefix: string): Promise<void> {
  await endAll(`an interrupted start on ${pathPrefix}*`, () => processesOn(pathPrefix));
}

/**
 * Ends what is left of a server that is gone. Its processes notice that by themselves, but for one that waits for a
 * lock whose holder was killed: it would wait for ever, and no server starts beside it.
 */
export async function endOrphansOf(cluster: string): Promise<void> {
  await endAll(`an earlier server on ${cluster}`, async () => {
    const found: number[] = [];
    for (const pid of await processesIn(cluster)) {
      // Somebody may be looking around in there.
      if ((await commandOf(pid)).startsWith('postgres: ')) found.push(pid);
    }
    return found;
  });
}

async function endAll(what: string, find: () => Promise<number[]>): Promise<void> {
  const attempts = 100;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await find();
    if (found.length === 0) return;
    for (const pid of found) {
      // They lead a group of their own; what they have started in it goes with them.
      if (!sendSignal(-pid, 'SIGKILL')) sendSignal(pid, 'SIGKILL');
    }
    await pause(50);
  }
  throw new Error(`Processes of ${what} cannot be ended.`);
}

/** The processes whose working directory this is. */
async function processesIn(directory: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('/usr/sbin/lsof', ['-t', '-a', '-d', 'cwd', '--', directory], psOptions);
    return stdout.split('\n').filter(Boolean).map(Number);
  }
  const found: number[] = [];
  for (const pid of await processIds()) {
    try {
      if ((await readlink(`/proc/${pid}/cwd`)) === directory) found.push(pid);
    } catch (error) {
      // Gone meanwhile, or not ours to look at: then it is none of our server's either.
      if (!hasCode(error, 'ENOENT', 'ESRCH', 'EACCES')) throw error;
    }
  }
  return found;
}

async function processesOn(pathPrefix: string): Promise<number[]> {
  const found: number[] = [];
  const matches = (command: string) => command.includes(` -D ${pathPrefix}`);
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('ps', ['-axww', '-o', 'pid=,command='], psOptions);
    for (const line of stdout.split('\n')) if (matches(line)) found.push(Number.parseInt(line, 10));
    return found;
  }
  for (const pid of await processIds()) if (matches(await commandOf(pid))) found.push(pid);
  return found;
}

const processIds = async (): Promise<number[]> =>
  (await readdir('/proc')).filter(entry => /^\d+$/.test(entry)).map(Number);

/** False when there is no such process any more. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}
