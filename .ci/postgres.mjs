import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { aptInstall, start } from './processes.mjs';

const installations = '/usr/lib/postgresql';
const oldestVersion = 15;
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;

const findBinaries = () => {
  if (!existsSync(installations)) return null;
  const versions = readdirSync(installations)
    .map(Number)
    .filter(version => version >= oldestVersion && existsSync(join(installations, String(version), 'bin', 'initdb')))
    .sort((a, b) => a - b);
  return versions.length === 0 ? null : { version: versions[0], bin: join(installations, String(versions[0]), 'bin') };
};

const isRoot = () => process.getuid?.() === 0;

/** Debian's package starts a server of its own unless told not to; only its programs are wanted here. */
const install = async room => {
  if (isRoot()) {
    mkdirSync('/etc/postgresql-common', { recursive: true });
    writeFileSync('/etc/postgresql-common/createcluster.conf', 'create_main_cluster = false\n');
  }
  const missing = 'PostgreSQL 15 or newer is needed in /usr/lib/postgresql. On Debian: apt-get install postgresql';
  await aptInstall('postgresql', room, missing);
};

/** PostgreSQL refuses to run as root. */
const accountForServer = () => {
  if (!isRoot()) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8');
  const found = /^postgres:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(accounts);
  return { uid: Number(found[1]), gid: Number(found[2]) };
};

/** A cluster of our own below the room, reached by a unix socket that only its account and root can enter. */
export const startPostgres = async room => {
  if (!findBinaries()) await install(room);
  const found = findBinaries();
  if (!found) throw new Error('PostgreSQL 15 or newer was installed but is not in /usr/lib/postgresql');
  const account = accountForServer();
  const folder = mkdtempSync(join(room, 'postgres-'));
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
  const options = { cwd: folder, room, ...account };
  const data = join(folder, 'data');

  const initdb = ['-D', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale'];
  const made = start(join(found.bin, 'initdb'), initdb, options);
  if ((await made.exited).code !== 0) throw new Error(`initdb failed:\n${made.output()}`);

  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'max_connections=200', 'timezone=UTC'];
  const args = ['-D', data, ...settings.flatMap(each => ['-c', each])];
  const server = start(join(found.bin, 'postgres'), args, options);
  let ended = false;
  server.exited.then(() => {
    ended = true;
  });
  const stop = async () => {
    if (!ended) server.kill('SIGINT');
    const deadline = pause(stopTimeoutMs, undefined, { ref: false }).then(() => server.kill('SIGQUIT'));
    await Promise.race([server.exited, deadline]);
    await server.exited;
  };
  const deadlineMs = performance.now() + startTimeoutMs;
  // The eighth line of the file says whether connections are taken.
  const isReady = () => {
    try {
      return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim() === 'ready';
    } catch {
      return false;
    }
  };
  while (!isReady()) {
    if (ended || performance.now() > deadlineMs) {
      await stop();
      throw new Error(`PostgreSQL does not start:\n${server.output()}`);
    }
    await pause(50);
  }
  const url = `postgres://postgres@${encodeURIComponent(folder)}:5432/postgres`;
  return { version: found.version, bin: found.bin, url, stop };
};
