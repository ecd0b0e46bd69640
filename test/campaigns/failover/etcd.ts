import { join } from 'node:path';
import { freePort } from '../../support/freePort.ts';
import { accountForServers, type Daemon, startDaemon } from './daemon.ts';
import type { Programs } from './programs.ts';

/** A member of the three. */
export type Etcd = {
  readonly name: string;
  readonly port: number;
  start(): void;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** It runs, and is one of a majority. */
  isHealthy(): Promise<boolean>;
};

const names = ['etcd1', 'etcd2', 'etcd3'];
const askTimeoutMs = 2_000;

/** Three of them, started. */
export const createEtcd = async (room: string, programs: Programs): Promise<Etcd[]> => {
  const members: { name: string; port: number; peer: string }[] = [];
  for (const name of names) {
    members.push({ name, port: await freePort(), peer: `http://127.0.0.1:${await freePort()}` });
  }
  const all = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const etcds = members.map(({ name, port, peer }): Etcd => {
    const url = `http://127.0.0.1:${port}`;
    const options = {
      name,
      'data-dir': join(room, name),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': all,
      'initial-cluster-state': 'new',
      'initial-cluster-token': 'florin',
      ...(programs.hasSafeEtcd3 ? {} : { 'enable-v2': 'true' }),
    };
    let daemon: Daemon | null = null;
    return {
      name,
      port,
      start() {
        daemon = startDaemon(programs.etcd, {
          args: Object.entries(options).map(([option, value]) => `--${option}=${value}`),
          env: programs.environment,
          cwd: room,
          account: accountForServers(),
          log: join(room, `${name}.log`),
        });
      },
      kill: async () => daemon?.kill(),
      stop: async () => daemon?.stop(),
      async isHealthy() {
        try {
          const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(askTimeoutMs) });
          return String(((await answer.json()) as { health: unknown }).health) === 'true';
        } catch {
          return false;
        }
      },
    };
  });
  for (const etcd of etcds) etcd.start();
  return etcds;
};
