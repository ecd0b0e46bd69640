import type { RateLimit } from '../../../src/core/plans.ts';
import type { RedisServer } from '../../support/redisProcess.ts';
import type { Random } from '../fuzz/random.ts';

/** An API process. */
export type Door = {
  /** The status of the answer to a request that counts. */
  ask(key: string): Promise<number>;
  /** `florin_limits_shared` and `florin_limits_counted_alone_total`. */
  figures(): Promise<{ readonly isShared: boolean; readonly countedAlone: number }>;
};

export type World = {
  readonly doors: readonly Door[];
  readonly redis: RedisServer & { empty(): Promise<void> };
  /** The key of a new account. */
  account(rate: RateLimit): Promise<string>;
  /** Until the limit must hold again after Redis is back. */
  untilBack(): Promise<void>;
  /** How long Redis stays away. */
  away(): Promise<void>;
};

export const faults = ['kill', 'stop', 'empty'] as const;
export type Fault = (typeof faults)[number];

/** Each of them, in an order that the seed decides. */
export const planFaults = (count: number, random: Random): Fault[] => {
  const plan: Fault[] = [];
  while (plan.length < count) {
    const left = [...faults];
    while (left.length > 0) plan.push(...left.splice(random.below(left.length), 1));
  }
  return plan.slice(0, count);
};

type Spent = { readonly statuses: ReadonlyMap<number, number>; readonly elapsedMs: number };

const clientsOfDoor = 8;

/** Sends so many requests through all doors, from several clients of each. */
export const spend = async (doors: readonly Door[], key: string, total: number): Promise<Spent> => {
  const statuses = new Map<number, number>();
  const startedMs = performance.now();
  let sent = 0;
  const client = async (door: Door): Promise<void> => {
    while (sent < total) {
      sent += 1;
      const status = await door.ask(key);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(doors.flatMap(door => Array.from({ length: clientsOfDoor }, () => client(door))));
  return { statuses, elapsedMs: performance.now() - startedMs };
};

const unexpected = ({ statuses }: Spent): string[] =>
  [...statuses].filter(([status]) => status !== 200 && status !== 429).map(([status, times]) => `${times} × ${status}`);

/** What a bucket that was full when the first request was sent may give at most, and gives at least if enough is asked for. */
export const judge = ({ perMinute, burst }: RateLimit, spent: Spent): string[] => {
  const accepted = spent.statuses.get(200) ?? 0;
  const capacity = perMinute + burst;
  const most = capacity + (perMinute / 60_000) * spent.elapsedMs + 1;
  return [
    ...unexpected(spent),
    ...(accepted > most ? [`${accepted} accepted, ${most.toFixed(1)} allowed`] : []),
    ...(accepted < capacity ? [`${accepted} accepted of ${capacity} that the bucket holds`] : []),
  ];
};

/** One request after the other until the signal. Returns the answers that must not be. */
const knock = async (door: Door, key: string, expected: readonly number[], signal: AbortSignal): Promise<string[]> => {
  const others = new Set<number>();
  while (!signal.aborted) others.add(await door.ask(key));
  for (const status of expected) others.delete(status);
  return [...others].map(status => `${status} instead of ${expected.join(' or ')}`);
};

const small: RateLimit = { perMinute: 60, burst: 20 };
const wide: RateLimit = { perMinute: 1_000_000, burst: 1_000_000 };
const timesCapacity = 4;

const act = async ({ redis, away, doors }: World, fault: Fault): Promise<string[]> => {
  if (fault === 'empty') {
    await redis.empty();
    return [];
  }
  if (fault === 'kill') await redis.kill();
  else redis.pause();
  await away();
  const figures = await Promise.all(doors.map(door => door.figures()));
  if (fault === 'kill') await redis.start();
  else redis.resume();
  return figures.flatMap(({ isShared, countedAlone }, place) => [
    ...(isShared ? [`process ${place + 1} does not tell that it counts alone`] : []),
    ...(countedAlone === 0 ? [`process ${place + 1} did not count what it counted alone`] : []),
  ]);
};

/** One fault under load, from one account that keeps to its limit and one that does not. Returns what was wrong. */
export const runFault = async (world: World, fault: Fault): Promise<string[]> => {
  const { doors, account, untilBack } = world;
  const keys = await Promise.all([account(wide), account(small), account(small)]);
  const [polite, greedy, fresh] = keys as [string, string, string];
  const total = (small.perMinute + small.burst) * timesCapacity;
  const stopping = new AbortController();
  const knocking = doors.flatMap(door => [
    knock(door, polite, [200], stopping.signal),
    ...Array.from({ length: clientsOfDoor }, () => knock(door, greedy, [200, 429], stopping.signal)),
  ]);
  const problems = await act(world, fault);
  await untilBack();
  problems.push(...judge(small, await spend(doors, fresh, total)));
  stopping.abort();
  problems.push(...(await Promise.all(knocking)).flat());
  const after = await Promise.all(doors.map(door => door.figures()));
  if (after.some(({ isShared }) => !isShared)) problems.push('a process still counts alone');
  return problems.map(problem => `${fault}: ${problem}`);
};
