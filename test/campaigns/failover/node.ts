import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { accountForServers, type Daemon, startDaemon } from './daemon.ts';
import type { Programs } from './programs.ts';

/** Patroni with its PostgreSQL, as they run on one machine. */
export type Node = {
  readonly name: string;
  readonly port: number;
  startPatroni(): void;
  /** PostgreSQL alone, at once. */
  killPostmaster(): Promise<void>;
  /** Patroni and PostgreSQL, at once. */
  kill(): Promise<void>;
  /** Both stand still and keep their connections, as on a machine that hangs. */
  freeze(): Promise<void>;
  thaw(): void;
  stop(): Promise<void>;
  /** Patroni says that it holds the key and its server takes writes. */
  isPrimary(): Promise<boolean>;
  /** Patroni runs. */
  isRunning(): Promise<boolean>;
  /** The role and the state of another node, as this one knows it. */
  roleOf(name: string): Promise<string>;
};

type Settings = {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly etcd: { readonly hosts: readonly string[] };
  readonly dynamicSettings: object;
  readonly authentication: object;
};

type Member = { readonly name: string; readonly role: string; readonly state: string };

const askTimeoutMs = 1_000;

const configOf = (folder: string, { postgres, hasSafeEtcd3 }: Programs, settings: Settings): object => {
  const { name, port, restPort, etcd, dynamicSettings, authentication } = settings;
  const [address, restAddress] = [port, restPort].map(each => `127.0.0.1:${each}`);
  return {
    scope: 'florin',
    name,
    restapi: { listen: restAddress, connect_address: restAddress },
    [hasSafeEtcd3 ? 'etcd3' : 'etcd']: etcd,
    bootstrap: { dcs: dynamicSettings, initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C' }] },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(folder, 'data'),
      bin_dir: postgres,
      pgpass: join(folder, 'pgpass'),
      authentication,
      parameters: { unix_socket_directories: '' },
      basebackup: [{ checkpoint: 'fast' }],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
    },
  };
};

/** The postmaster of a cluster, or null. */
const findPostmaster = async (data: string): Promise<number | null> => {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return null;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes(data) ? pid : null;
};

const childrenOf = async (parent: number): Promise<number[]> => {
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    // The name in parentheses may contain anything.
    const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(ppid) === parent) found.push(Number(entry));
  }
  return found;
};

export const createNode = async (parent: string, programs: Programs, settings: Settings): Promise<Node> => {
  const { name, port, restPort } = settings;
  const account = accountForServers();
  const folder = join(parent, name);
  await mkdir(folder, { mode: 0o700 });
  const [data, config] = [join(folder, 'data'), join(folder, 'patroni.yml')];
  // JSON is YAML.
  await writeFile(config, JSON.stringify(configOf(folder, programs, settings), null, 2));
  if (account.uid !== undefined) for (const path of [folder, config]) await chown(path, account.uid, account.gid!);
  let patroni: Daemon | null = null;
  let frozen: number[] = [];

  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${restPort}${path}`, { signal: AbortSignal.timeout(askTimeoutMs) });
  const answers = async (path: string): Promise<boolean> => {
    try {
      const answer = await ask(path);
      await answer.arrayBuffer();
      return answer.ok;
    } catch {
      return false;
    }
  };
  const killPostmaster = async (): Promise<void> => {
    const postmaster = await findPostmaster(data);
    if (postmaster === null) throw new Error(`no server runs on ${data}`);
    sendSignal(postmaster, 'SIGKILL');
  };

  const startPatroni = (): void => {
    patroni = startDaemon(programs.patroni, {
      args: [config],
      env: { ...programs.environment, HOME: folder },
      cwd: folder,
      account,
      log: join(parent, `${name}.log`),
    });
  };
  startPatroni();
  return {
    name,
    port,
    startPatroni,
    killPostmaster,
    async kill() {
      // Patroni first: it must not see the end of its server.
      await patroni!.kill();
      await killPostmaster();
    },
    async freeze() {
      const postmaster = await findPostmaster(data);
      if (postmaster === null) throw new Error(`no server runs on ${data}`);
      // Parents first: they start nothing meanwhile.
      for (const pid of [patroni!.pid, postmaster]) sendSignal(pid, 'SIGSTOP');
      const children = [...(await childrenOf(patroni!.pid)), ...(await childrenOf(postmaster))];
      for (const pid of children) sendSignal(pid, 'SIGSTOP');
      frozen = [...children, postmaster, patroni!.pid];
    },
    thaw() {
      for (const pid of frozen) sendSignal(pid, 'SIGCONT');
      frozen = [];
    },
    async stop() {
      for (const pid of frozen) sendSignal(pid, 'SIGCONT');
      await patroni?.stop();
      // Patroni takes its server along, unless it was killed.
      const postmaster = await findPostmaster(data);
      if (postmaster !== null) sendSignal(postmaster, 'SIGQUIT');
    },
    isPrimary: () => answers('/primary'),
    isRunning: () => answers('/liveness'),
    async roleOf(other) {
      const { members } = (await (await ask('/cluster')).json()) as { members: readonly Member[] };
      const member = members.find(each => each.name === other);
      return member ? `${member.role} ${member.state}` : 'unknown';
    },
  };
};
