import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isProgram } from '../../support/isProgram.ts';

export const howToGetPatroni = `Patroni, etcd and PostgreSQL 15 or newer are needed. On Debian:

  sudo apt-get install patroni etcd-server postgresql

To install nothing, unpack the packages and name the folder:

  apt-get download patroni etcd-server python3-etcd python3-psycopg2 python3-psutil python3-urllib3 python3-dateutil \\
    python3-click python3-prettytable python3-cdiff python3-dnspython python3-six python3-yaml python3-wcwidth
  for package in *.deb; do dpkg -x $package /tmp/patroni; done
  PATRONI_ROOT=/tmp/patroni npm run failover`;

export type Programs = {
  readonly etcd: string;
  readonly patroni: string;
  /** The folder with the programs of PostgreSQL. */
  readonly postgres: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether Patroni takes the leader key by version 3 of etcd's API only if it may. */
  readonly hasSafeEtcd3: boolean;
};

const oldestVersion = 15;

/** Debian keeps the programs of each version in a folder of its own. */
const findPostgres = (root: string, exists: typeof isProgram): string | null => {
  const installations = join(root, 'usr/lib/postgresql');
  let names: string[];
  try {
    names = readdirSync(installations);
  } catch {
    return null;
  }
  const versions = names.map(Number).filter(version => version >= oldestVersion);
  const folders = versions.sort((a, b) => b - a).map(version => join(installations, `${version}`, 'bin'));
  return folders.find(folder => ['initdb', 'postgres', 'pg_rewind'].every(name => exists(join(folder, name)))) ?? null;
};

/**
 * By version 3 of etcd's API, Patroni 3.0 writes the leader key without a condition once its lease is over. A
 * primary that was stopped and continued then takes it from the standby that was promoted meanwhile, and the two do not come
 * together again by themselves. Version 2 of the API has the condition.
 */
const isFixed = (patroni: string, env: NodeJS.ProcessEnv): boolean => {
  const [, ...numbers] =
    /(\d+)\.(\d+)\.(\d+)/.exec(execFileSync(patroni, ['--version'], { env, encoding: 'utf8' })) ?? [];
  const [major = 0, minor = 0, patch = 0] = numbers.map(Number);
  return major * 10_000 + minor * 100 + patch >= 30_100;
};

/** Those below PATRONI_ROOT, a folder that Debian's packages were unpacked into, or installed ones; null if one is missing. */
export const findPrograms = (env: NodeJS.ProcessEnv = process.env, exists = isProgram): Programs | null => {
  const root = env.PATRONI_ROOT ?? '';
  const path = [...(root ? [join(root, 'usr/bin')] : []), env.PATH ?? '', '/usr/bin', '/bin'].join(delimiter);
  const find = (name: string): string | undefined =>
    path
      .split(delimiter)
      .map(folder => join(folder, name))
      .find(exists);
  const [etcd, patroni] = [find('etcd'), find('patroni')];
  const postgres = (root && findPostgres(root, exists)) || findPostgres('/', exists);
  if (!etcd || !patroni || !postgres) return null;
  const python = [...(root ? [join(root, 'usr/lib/python3/dist-packages')] : []), env.PYTHONPATH ?? ''].filter(Boolean);
  const environment = {
    PATH: path,
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    ...(python.length > 0 && { PYTHONPATH: python.join(delimiter) }),
    // etcd refuses to start on arm64 otherwise.
    ...(process.arch === 'arm64' && { ETCD_UNSUPPORTED_ARCH: 'arm64' }),
  };
  return { etcd, patroni, postgres, environment, hasSafeEtcd3: isFixed(patroni, environment) };
};
