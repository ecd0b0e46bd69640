import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Stands in for systemctl in the drill, where no systemd runs: starts and stops the process of a unit as its user, in its
 * directory and with its settings, and waits until it says that it is ready. What the unit forbids it is not forbidden here.
 */
const [command, ...rest] = process.argv.slice(2);
const unit = rest.at(-1) ?? '';
const pidFile = `/var/lib/systemd-drill-${unit}.pid`;
/** The stand-in for systemd-notify makes this file. Everybody may write to its folder. */
const readyFile = `/var/tmp/systemd-drill-${unit}.ready`;

const unitFile = (): string => readFileSync(`/etc/systemd/system/${unit}.service`, 'utf8').replaceAll('\\\n', ' ');
const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!.trim());

const assignments = (lines: readonly string[]): [string, string][] =>
  lines.flatMap(line => {
    const [, name, value] = /^([A-Z_0-9]+)=(.*)$/.exec(line.trim().replace(/^"(.*)"$/, '$1')) ?? [];
    return name === undefined ? [] : [[name, value!.replace(/^(['"])(.*)\1$/, '$2')] as [string, string]];
  });

const environmentOf = (text: string): Record<string, string> => {
  const files = valuesOf(text, 'EnvironmentFile').map(file => file.replace(/^-/, ''));
  const fromFiles = files.filter(existsSync).flatMap(file => readFileSync(file, 'utf8').split('\n'));
  return Object.fromEntries(assignments([...valuesOf(text, 'Environment'), ...fromFiles]));
};

/** Nobody collects what has ended: the first process of the drill's machine is the drill. */
const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const stop = async (): Promise<void> => {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  if (isRunning(pid)) process.kill(pid, 'SIGTERM');
  while (isRunning(pid)) await pause(50);
  rmSync(pidFile);
};

const start = async (): Promise<void> => {
  const text = unitFile();
  const [user = 'root'] = valuesOf(text, 'User');
  const [directory = '/'] = valuesOf(text, 'WorkingDirectory');
  const [line = ''] = valuesOf(text, 'ExecStart');
  rmSync(readyFile, { force: true });
  const log = openSync(`/var/log/${unit}.log`, 'a');
  const child = spawn('setpriv', [`--reuid=${user}`, `--regid=${user}`, '--init-groups', ...line.split(/\s+/)], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, NOTIFY_SOCKET: readyFile, ...environmentOf(text) },
  });
  closeSync(log);
  writeFileSync(pidFile, String(child.pid));
  child.unref();
  while (!existsSync(readyFile)) {
    if (!isRunning(child.pid!)) throw new Error(`${unit} ended before it was ready`);
    await pause(50);
  }
};

if (command === 'stop' || command === 'restart') await stop();
if (command === 'start' || command === 'restart' || rest.includes('--now')) await start();
