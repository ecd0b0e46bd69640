import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Api, createApi } from '../chaos/api.ts';
import {
  type FlorinProcess,
  launchFlorin,
  runFlorin,
  type Surroundings,
  stopFlorin,
  within,
} from '../chaos/florinProcess.ts';
import type { Cluster } from './cluster.ts';

const readyTimeoutMs = 120_000;
const sockets = 256;

type Place = { readonly name: string; readonly dataDir: string; readonly surroundings: Surroundings };

/** Several Florin processes over the cluster, each with all roles. */
export type Fleet = {
  /** One for each process. */
  readonly apis: readonly Api[];
  /** What `florin doctor` finds wrong. */
  doctor(): Promise<string[]>;
  outputs(): { readonly name: string; readonly text: string }[];
  /** Ends them, and says which had ended before or did not end well. */
  stop(): Promise<string[]>;
};

const makeRoles = async ({ ask, passwords }: Cluster): Promise<void> => {
  await ask(`create role florin_owner login password '${passwords.owner}'`);
  await ask(`create role florin_app login password '${passwords.app}'`);
  await ask('grant pg_read_all_stats to florin_app');
  await ask('create database florin owner florin_owner');
};

/** Names both servers, as docs/high-availability.md says. */
const settingsOf = ({ nodes, passwords }: Cluster): Record<string, string> => {
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    DATABASE_URL: `postgres://florin_app:${passwords.app}@${hosts}/florin`,
    FLORIN_MIGRATE_DATABASE_URL: `postgres://florin_owner:${passwords.owner}@${hosts}/florin`,
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    FLORIN_ROLES: 'api,watch,deliver',
  };
};

const enrol = async ({ dataDir, surroundings }: Place): Promise<string> => {
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Shop', ...wide], surroundings);
  return String((await runFlorin(dataDir, ['keys', 'create', '--account', String(id)], surroundings)).key);
};

export const startFleet = async (room: string, cluster: Cluster, configFile: object, count: number): Promise<Fleet> => {
  await makeRoles(cluster);
  const env = settingsOf(cluster);
  const running: { place: Place; process: FlorinProcess }[] = [];
  const doors: { url: string; ca: string }[] = [];
  // One after the other: the first makes the tables.
  for (let number = 1; number <= count; number++) {
    const cwd = join(room, `florin${number}`);
    await mkdir(cwd);
    await writeFile(join(cwd, 'florin.config.json'), JSON.stringify(configFile));
    const place = { name: `florin${number}`, dataDir: join(cwd, 'data'), surroundings: { cwd, env } };
    const process = launchFlorin(place.dataDir, [], place.surroundings);
    running.push({ place, process });
    const ready = await within(process.ready, readyTimeoutMs);
    if (!ready) throw new Error(`${place.name} was not ready within ${readyTimeoutMs} ms:\n${process.output()}`);
    doors.push({ url: ready.sandboxUrl, ca: ready.ca });
  }
  const { place: first } = running[0]!;
  const key = await enrol(first);
  const apis = doors.map(door => createApi({ ...door, key, maxSockets: sockets }));
  return {
    apis,
    outputs: () => running.map(({ place: { name }, process }) => ({ name, text: process.output() })),
    async doctor() {
      const told = await runFlorin(first.dataDir, ['doctor'], first.surroundings).catch(
        (error: { stdout?: string }) => JSON.parse(error.stdout || '{}') as Record<string, unknown>,
      );
      const findings = Object.values(told).flat() as { check: string; ok: boolean; detail: string }[];
      if (findings.length === 0) return ['it says nothing'];
      return findings.filter(({ ok }) => ok === false).map(({ check, detail }) => `${check}: ${detail}`);
    },
    async stop() {
      for (const api of apis) api.close();
      const stopped = await Promise.all(running.map(({ place, process }) => stopFlorin(process, place.dataDir)));
      return running.filter((_, at) => !stopped[at]).map(({ place }) => `${place.name} did not run and end well`);
    },
  };
};
