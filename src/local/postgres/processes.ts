import { readdir, readFile } from 'node:fs/promises';
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
  const attempts = 100;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await processesOn(pathPrefix);
    if (found.length === 0) return;
    for (const pid of found) {
      // They lead a group of their own; what they have started in it goes with them.
      if (!sendSignal(-pid, 'SIGKILL')) sendSignal(pid, 'SIGKILL');
    }
    await pause(50);
  }
  throw new Error(`Processes of an interrupted start cannot be ended: they work on ${pathPrefix}*.`);
}

async function processesOn(pathPrefix: string): Promise<number[]> {
  const found: number[] = [];
  const matches = (command: string) => command.includes(` -D ${pathPrefix}`);
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('ps', ['-axww', '-o', 'pid=,command='], psOptions);
    for (const line of stdout.split('\n')) if (matches(line)) found.push(Number.parseInt(line, 10));
    return found;
  }
  for (const entry of await readdir('/proc')) {
    if (/^\d+$/.test(entry) && matches(await commandOf(Number(entry)))) found.push(Number(entry));
  }
  return found;
}

/** False when there is no such process any more. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}
