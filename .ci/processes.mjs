import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every temporary file of a run is made below one directory, which others may pass: PostgreSQL drops root's rights. */
export const makeRoom = name => {
  const room = mkdtempSync(join(realpathSync(tmpdir()), `${name}-`));
  chmodSync(room, 0o755);
  return room;
};

/** No setting of this shell may leak into what is tested. */
const cleanEnvironment = room => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:FLORIN_|PG|npm_)|^(?:TEST_)?DATABASE_URL$|^REDIS_URL$|^(?:NODE_OPTIONS|FORCE_COLOR)$/.test(name),
  );
  return { ...Object.fromEntries(kept), TMPDIR: room, NO_COLOR: '1' };
};

/** Runs a command with its output passed on. */
export const run = (command, args, { cwd, room, env = {} }) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...cleanEnvironment(room), ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });

/** Installs a package of Debian; elsewhere, or without the right to, it says what is missing. */
export const aptInstall = async (name, room, missing) => {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(missing);
  const options = { cwd: '/', room, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  for (const args of [['update'], ['install', '--no-install-recommends', name]]) {
    const { code } = await run('apt-get', ['-q', '-y', '-o', 'Dpkg::Options::=--force-confold', ...args], options);
    if (code !== 0) throw new Error(`apt-get ${args.join(' ')} ended with ${code}`);
  }
};

/**
 * Unpacks a package of Debian below the room, and returns where: installing it would start a server. Works for programs
 * that need no other package.
 */
export const aptUnpack = async (name, room, missing) => {
  if (!existsSync('/usr/bin/apt-get')) throw new Error(missing);
  const folder = join(room, name);
  mkdirSync(folder);
  const steps = [
    ['apt-get', ['-q', 'update']],
    ['apt-get', ['-q', 'download', name]],
    ['sh', ['-c', `dpkg -x ${name}_*.deb .`]],
  ];
  for (const [command, args] of steps) {
    const { code } = await run(command, args, { cwd: folder, room });
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  }
  return folder;
};

/** Starts a command that keeps running; `output()` is what it has said so far. */
export const start = (command, args, { cwd, room, env = {}, uid, gid }) => {
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnvironment(room), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', text => {
      output = (output + text).slice(-100_000);
    });
  }
  const exited = new Promise(resolve => {
    child.once('error', error => resolve({ code: null, signal: String(error) }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { pid: child.pid, exited, output: () => output, kill: signal => child.kill(signal) };
};
