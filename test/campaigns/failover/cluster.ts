import { randomBytes } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../support/freePort.ts';
import { accountForServers } from './daemon.ts';
import { createEtcd, type Etcd } from './etcd.ts';
import { createNode, type Node } from './node.ts';
import type { Programs } from './programs.ts';

export type Cluster = {
  readonly etcds: readonly Etcd[];
  readonly nodes: readonly Node[];
  readonly passwords: { readonly superuser: string; readonly owner: string; readonly app: string };
  /** The node that takes writes, and the other. */
  roles(): Promise<{ primary: Node; standby: Node }>;
  /** All run, and the standby is a synchronous one that Patroni would promote. Throws after a time. */
  untilHealthy(): Promise<void>;
  /** As the superuser of the primary. */
  ask(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
};

const healthyTimeoutMs = 180_000;
const lookMs = 200;

/** The settings of docs/high-availability.md, and those that let a killed primary come back. */
const dynamicSettings = {
  synchronous_mode: true,
  synchronous_mode_strict: true,
  loop_wait: 1,
  retry_timeout: 3,
  ttl: 20,
  primary_start_timeout: 0,
  postgresql: {
    use_pg_rewind: true,
    remove_data_directory_on_rewind_failure: true,
    parameters: {
      synchronous_commit: 'on',
      wal_retrieve_retry_interval: '1s',
      shared_buffers: '64MB',
      wal_keep_size: '256MB',
      timezone: 'UTC',
    },
  },
};

type Standby = { readonly state: string; readonly sync_state: string };

const askAt = async <T>(port: number, password: string, sql: string, database = 'postgres'): Promise<T[]> => {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: 'postgres', password, database },
    ...{ connectionTimeoutMillis: 3_000, query_timeout: 10_000 },
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows as T[];
  } finally {
    client.end().catch(() => {});
  }
};

const createNodes = async (room: string, programs: Programs, etcds: readonly Etcd[], superuser: string) => {
  const hosts = etcds.map(({ port }) => `127.0.0.1:${port}`);
  const replicator = randomBytes(12).toString('hex');
  const nodes: Node[] = [];
  for (const name of ['pg1', 'pg2']) {
    const [port, restPort] = [await freePort(), await freePort()];
    const authentication = {
      superuser: { username: 'postgres', password: superuser },
      replication: { username: 'replicator', password: replicator },
    };
    const etcd = { hosts };
    nodes.push(await createNode(room, programs, { name, port, restPort, etcd, dynamicSettings, authentication }));
  }
  return nodes;
};

/** Three etcd and two Patroni on loopback. */
export const startCluster = async (parent: string, programs: Programs): Promise<Cluster> => {
  const room = join(parent, 'cluster');
  await mkdir(room, { mode: 0o755 });
  const { uid, gid } = accountForServers();
  if (uid !== undefined) await chown(room, uid, gid!);
  const etcds = await createEtcd(room, programs);
  const [superuser, owner, app] = [1, 2, 3].map(() => randomBytes(12).toString('hex')) as [string, string, string];
  const nodes = await createNodes(room, programs, etcds, superuser);

  const roles: Cluster['roles'] = async () => {
    for (const [at, primary] of nodes.entries()) {
      if (await primary.isPrimary()) return { primary, standby: nodes[1 - at]! };
    }
    throw new Error('no node is the primary');
  };
  /** Null, or what is missing. */
  const ailment = async (): Promise<string | null> => {
    for (const etcd of etcds) if (!(await etcd.isHealthy())) return `${etcd.name} is not healthy`;
    const { primary, standby } = await roles();
    const role = await primary.roleOf(standby.name);
    if (role !== 'sync_standby streaming' && role !== 'sync_standby running') return `${standby.name} is ${role}`;
    if (!(await standby.isRunning())) return `Patroni of ${standby.name} does not answer`;
    const text = 'select state, sync_state from pg_stat_replication';
    const standbys = await askAt<Standby>(primary.port, superuser, text);
    const streams = standbys.some(({ state, sync_state }) => state === 'streaming' && sync_state === 'sync');
    return streams ? null : `the standbys are ${JSON.stringify(standbys)}`;
  };

  return {
    etcds,
    nodes,
    passwords: { superuser, owner, app },
    roles,
    async untilHealthy() {
      const endMs = performance.now() + healthyTimeoutMs;
      for (;;) {
        const found = await ailment().catch((error: Error) => error.message);
        if (found === null) return;
        if (performance.now() > endMs) throw new Error(`the cluster is not healthy: ${found}`);
        await pause(lookMs);
      }
    },
    async ask(sql, database) {
      const { primary } = await roles();
      return askAt(primary.port, superuser, sql, database);
    },
    async stop() {
      // While etcd runs, so that Patroni ends as it should.
      await Promise.all(nodes.map(node => node.stop()));
      await Promise.all(etcds.map(etcd => etcd.stop()));
    },
  };
};
