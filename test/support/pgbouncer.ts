import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { atEndOfFile } from './endOfFile.ts';
import { findPgbouncer } from './findPgbouncer.ts';
import { freePort } from './freePort.ts';
import type { Server } from './twoServers.ts';

/** It does not run as root. */
const nobody = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A real PgBouncer in front of a server. Returns the URL of the database by way of it. It ends with the test file at the latest. */
export const startPgbouncer = async (server: Server, settings: Record<string, string | number>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-pgbouncer-'));
  await chmod(folder, 0o755);
  const [port, users, file] = [await freePort(), join(folder, 'users'), join(folder, 'pgbouncer.ini')];
  await writeFile(users, '"postgres" ""\n');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\n* = host=127.0.0.1 port=${server.port}`;
  await writeFile(file, `${databases}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const child = spawn(findPgbouncer()!, [file], { ...nobody, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  atEndOfFile(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`PgBouncer ended with ${code}:\n${said.join('\n')}`)));
    createInterface({ input: child.stderr! }).on('line', line => {
      said.push(line);
      if (line.includes('process up')) resolve();
    });
  });
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
};
