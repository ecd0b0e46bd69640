import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { freePort } from '../../support/freePort.ts';
import { type FlorinProcess, launchFlorin, within } from '../chaos/florinProcess.ts';
import type { FrontDoor } from './frontDoor.ts';
import type { Release } from './release.ts';

/** Each half is ten times as long as the front door takes to notice. */
const drainSeconds = 4;
const readyTimeoutMs = 120_000;
const stopTimeoutMs = 60_000;
const lookMs = 50;

/** A process that only delivers wants to know whether it may call loopback. */
const loopbackUrls = {
  FLORIN_PUBLIC_URL: 'https://localhost:8443',
  FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:8444',
};

/** A data directory and a role, for one process after the other. */
export type Place = {
  readonly name: string;
  readonly role: 'api' | 'watch' | 'deliver';
  readonly room: string;
  readonly ports: readonly [number, number];
};

export const roles = ['watch', 'watch', 'deliver', 'deliver', 'api', 'api'] as const;

const makePlace = async (room: string, name: string, role: Place['role'], configFile: object): Promise<Place> => {
  const folder = join(room, name);
  await mkdir(folder, { mode: 0o755 });
  await writeFile(join(folder, 'florin.config.json'), JSON.stringify(configFile));
  return { name, role, room: folder, ports: [await freePort(), await freePort()] };
};

export type Fleet = {
  readonly places: readonly Place[];
  start(place: Place, release: Release): Promise<void>;
  /** Sends its requests elsewhere, and ends it. Throws if it does not end well. */
  stop(place: Place): Promise<void>;
  /** A start that is expected to fail: what the process wrote. */
  refused(place: Place, release: Release): Promise<string>;
  /** The settings of a place, for commands. */
  surroundings(place: Place, release: Release): { cwd: string; env: NodeJS.ProcessEnv; program: string };
  dataDir(place: Place): string;
  kill(): void;
};

type Running = { readonly process: FlorinProcess; readonly release: Release };

const untilReady = async (process: FlorinProcess, name: string): Promise<void> => {
  const ready = async (): Promise<true> => {
    while (!process.output().includes('Florin is ready')) await pause(lookMs);
    return true;
  };
  const dead = process.exited.then(() => null);
  if ((await within(Promise.race([ready(), dead]), readyTimeoutMs)) !== null) return;
  throw new Error(`${name} did not come up:\n${process.output()}`);
};

export const createFleet = async (
  room: string,
  env: Record<string, string>,
  configFile: object,
  frontDoor: FrontDoor,
): Promise<Fleet> => {
  const places = await Promise.all(
    roles.map((role, place) => makePlace(room, `${role}${(place % 2) + 1}`, role, configFile)),
  );
  const running = new Map<string, Running>();
  const dataDir = (place: Place): string => join(place.room, 'data');
  const surroundings: Fleet['surroundings'] = ({ room: cwd, role }, { program, drains }) => ({
    cwd,
    program,
    env: {
      ...env,
      FLORIN_ROLES: role,
      ...(role === 'deliver' && loopbackUrls),
      ...(drains && { FLORIN_DRAIN_SECONDS: `${drainSeconds}` }),
    },
  });
  const launch = (place: Place, release: Release): FlorinProcess =>
    launchFlorin(dataDir(place), [], { ...surroundings(place, release), ports: place.ports });

  return {
    places,
    surroundings,
    dataDir,
    async start(place, release) {
      const process = launch(place, release);
      running.set(place.name, { process, release });
      await untilReady(process, place.name);
      if (place.role !== 'api') return;
      const { sandboxUrl: url, ca } = await process.ready;
      frontDoor.put(place.name, { url, ca });
      await frontDoor.ready(place.name);
    },
    async stop({ name, role }) {
      const { process, release } = running.get(name)!;
      if (role === 'api' && !release.drains) await frontDoor.takeOut(name);
      sendSignal(process.pid, 'SIGTERM');
      const how = await within(process.exited, stopTimeoutMs);
      if (how?.code !== 0) throw new Error(`${name} ended with ${JSON.stringify(how)}:\n${process.output()}`);
      running.delete(name);
    },
    async refused(place, release) {
      const process = launch(place, release);
      const how = await within(process.exited, stopTimeoutMs);
      if (how === null) sendSignal(process.pid, 'SIGKILL');
      return how?.code === 1 ? process.output() : `it ended with ${JSON.stringify(how)}: ${process.output()}`;
    },
    kill() {
      for (const { process } of running.values()) sendSignal(process.pid, 'SIGKILL');
    },
  };
};
