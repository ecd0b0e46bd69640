import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { launchFlorin, within } from '../chaos/florinProcess.ts';
import type { Random } from '../fuzz/random.ts';
import type { Check } from '../sim/checkChain.ts';
import type { Checker } from '../sim/checker.ts';
import type { Customers } from '../sim/customers.ts';
import { openApi, type Room, type Running, startIn, type TablesConnection } from '../sim/scene.ts';
import type { World } from '../sim/world.ts';
import { drive, type LoadTally } from './load.ts';
import type { DatabaseProxy, Point, Step } from './proxy.ts';

export const readTimeoutMs = 60_000;
const hitTimeoutMs = 30_000;
const longestLifeMs = 1_500;
const longestStartMs = 2_500;
export const checkEvery = 10;

export type Scene = {
  readonly room: Room;
  readonly proxy: DatabaseProxy;
  readonly tables: TablesConnection;
  readonly world: World;
  readonly random: Random;
  readonly tally: LoadTally;
  readonly faults: string[];
  readonly killed: Map<string, number>;
  running: Running;
  key: string;
  customers: Customers;
  checker: Checker;
  checks: number;
};

const count = ({ killed }: Scene, what: string): void => void killed.set(what, (killed.get(what) ?? 0) + 1);

/** The service and, half of the time, its chain in the same moment; otherwise that ends by itself. */
const kill = async ({ running, room }: Scene, withChain: boolean): Promise<void> => {
  const record = withChain ? await readFile(join(room.dataDir, 'devchain.json'), 'utf8').catch(() => null) : null;
  sendSignal(running.florin.pid, 'SIGKILL');
  if (record !== null) sendSignal((JSON.parse(record) as { pid: number }).pid, 'SIGKILL');
  await running.florin.exited;
};

/** Starts it again and waits until the watcher has read all there is. */
const restart = async (scene: Scene): Promise<void> => {
  scene.running = await startIn(scene.room);
  const { rpc } = scene.running;
  await scene.world.join(rpc, false);
  try {
    await scene.tables.untilRead(() => scene.world.headHash(rpc), readTimeoutMs);
  } catch (error) {
    const { rows } = await scene.tables.client.query('select * from chains');
    throw new Error(`${scene.running.florin.output()}\n${JSON.stringify(rows)}`, { cause: error });
  }
};

export const check = async (scene: Scene, isSettled: boolean): Promise<Check[]> => {
  const { tables, world, checker, running } = scene;
  await tables.untilRead(() => world.headHash(running.rpc), readTimeoutMs);
  scene.checks += 1;
  return tables.inOneMoment(client => checker.check({ client, rpc: running.rpc, isSettled }));
};

export const checkNow = async (scene: Scene, when: string): Promise<void> => {
  for (const { what, problems } of await check(scene, false)) {
    scene.faults.push(...problems.slice(0, 5).map(problem => `${when}: ${what}: ${problem}`));
  }
};

/** Lets the load run until `end` has come, and ends it. */
export const underLoad = async (scene: Scene, end: Promise<unknown>): Promise<void> => {
  const { running, world, customers, random, tally } = scene;
  const stopping = new AbortController();
  const api = openApi(running, scene.key);
  const { rpc } = running;
  const readUp = () => scene.tables.untilRead(() => world.headHash(rpc), readTimeoutMs);
  const load = drive({ api, rpc, world, customers, random, readUp }, tally, stopping.signal);
  await end;
  stopping.abort();
  await load;
  api.close();
};

const killAt = async (scene: Scene, point: Point): Promise<boolean> => {
  const hit = Promise.withResolvers<void>();
  scene.proxy.arm(point, () => {
    sendSignal(scene.running.florin.pid, 'SIGKILL');
    hit.resolve();
  });
  await underLoad(scene, within(hit.promise, hitTimeoutMs));
  scene.proxy.disarm();
  const wasHit = (await within(scene.running.florin.exited, 1_000)) !== null;
  if (!wasHit) await kill(scene, false);
  await restart(scene);
  return wasHit;
};

export const killSomewhere = async (scene: Scene): Promise<void> => {
  const { random } = scene;
  const withChain = random.next() < 0.5;
  const luck = random.next();
  if (luck < 0.15) {
    // And once more while it starts and catches up.
    await kill(scene, withChain);
    const starting = launchFlorin(scene.room.dataDir, [], scene.room.surroundings);
    await Promise.race([pause(random.below(longestStartMs)), starting.exited]);
    sendSignal(starting.pid, 'SIGKILL');
    await starting.exited;
    count(scene, 'random, twice in a row');
  } else {
    await underLoad(
      scene,
      pause(random.below(longestLifeMs)).then(() => kill(scene, withChain)),
    );
    count(scene, withChain ? 'random, with the chain' : 'random');
  }
  await restart(scene);
};

const rollBack = 'blocks-orphan';

/** Commits matter most, also those of events and of a rollback. */
const pointsOf = (steps: readonly Step[]): Point[] =>
  steps.flatMap(step =>
    (['before', 'after'] as const).flatMap((when): Point[] => {
      const plain = { ...step, when };
      if (step.statement !== 'commit') return [plain];
      return [plain, { ...plain, having: 'events-insert' }, { ...plain, having: rollBack }];
    }),
  );

const nameOf = ({ when, statement, occurrence, having }: Point): string =>
  `${when} ${statement} ${occurrence}${having ? ` with ${having}` : ''}`;

/**
 * Kills the service before and after each statement of the transaction that applies blocks, including statements that
 * only larger transactions have.
 */
export const killAtEveryStep = async (scene: Scene): Promise<Check> => {
  const met: string[] = [];
  const missed: string[] = [];
  for (;;) {
    const tried = new Set([...met, ...missed]);
    const point = pointsOf(scene.proxy.steps()).find(each => !tried.has(nameOf(each)));
    if (point === undefined) break;
    const isMet = await killAt(scene, point);
    (isMet ? met : missed).push(nameOf(point));
    if (isMet) count(scene, 'at a step');
    if (tried.size % checkEvery === checkEvery - 1) await checkNow(scene, `killed ${nameOf(point)}`);
  }
  const steps = scene.proxy.steps().map(({ statement, occurrence }) => `${statement} ${occurrence}`);
  console.log(`steps of the watcher's transaction: ${steps.join(', ')}`);
  console.log(`killed at ${met.length} points of it; not met again: ${missed.join(', ') || 'none'}`);
  // A step that only the largest of transactions has may not come again in time.
  const isEnough = missed.length * 5 <= met.length && met.some(name => name.includes(rollBack));
  const what = `it was killed at ${met.length} points of the watcher's transaction`;
  return { what, problems: isEnough ? [] : ['too few', ...missed] };
};
