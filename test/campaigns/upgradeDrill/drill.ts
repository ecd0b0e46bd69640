import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { PostgresConnection } from '../../../src/local/postgres/startPostgres.ts';
import { runFlorin } from '../chaos/florinProcess.ts';
import type { Fleet, Place } from './fleet.ts';
import type { FrontDoor } from './frontDoor.ts';
import { type Load, startLoad } from './load.ts';
import { type Release, thisRelease } from './release.ts';

export type Check = { readonly what: string; readonly problems: readonly string[] };
export type DrillParts = {
  readonly fleet: Fleet;
  readonly frontDoor: FrontDoor;
  readonly before: Release;
  readonly owner: PostgresConnection;
  readonly receiver: { readonly url: string; readonly seen: ReadonlyMap<string, number> };
  readonly callers: number;
  readonly seconds: number;
  tell(text: string): void;
};
type Drill = DrillParts & { readonly load: Load; readonly checks: Check[] };

const settleTimeoutMs = 120_000;
const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];

/** An account with a key that may do everything. */
const enrol = async ({ fleet, before }: DrillParts): Promise<string> => {
  const place = fleet.places[0]!;
  const florin = (...args: string[]) => runFlorin(fleet.dataDir(place), args, fleet.surroundings(place, before));
  const { id } = await florin('accounts', 'create', '--name', 'Shop', ...wide);
  return String((await florin('keys', 'create', '--account', String(id))).key);
};

const note = ({ checks, tell }: Drill, what: string, problems: readonly string[]): void => {
  checks.push({ what, problems });
  tell(
    `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${what}${problems
      .slice(0, 10)
      .map(each => `\n         ${each}`)
      .join('')}`,
  );
};

/** One process after the other. The API processes take turns, so one of them always serves. */
const replaceAll = async (drill: Drill, places: readonly Place[], release: Release): Promise<void> => {
  const { fleet, load, seconds, tell } = drill;
  const failedBefore = load.failed.length;
  for (const place of places) {
    const startedMs = performance.now();
    await fleet.stop(place);
    const stoppedMs = performance.now();
    await fleet.start(place, release);
    const [down, up] = [stoppedMs - startedMs, performance.now() - stoppedMs].map(ms => (ms / 1_000).toFixed(1));
    tell(`       ${place.name} stopped in ${down} s, ${release.name} ready in ${up} s`);
  }
  load.answeredBy();
  await pause(seconds * 1_000);
  const by = load.answeredBy();
  const silent = fleet.places
    .filter(({ name, role }) => role === 'api' && !by[name])
    .map(({ name }) => `${name} got no request`);
  note(drill, `${places.map(({ name }) => name).join(', ')}: replaced by ${release.name} under load`, [
    ...load.failed.slice(failedBefore),
    ...silent,
  ]);
};

const finish = async ({ fleet }: Drill): Promise<Record<string, unknown> | string> => {
  const place = fleet.places[0]!;
  try {
    return await runFlorin(fleet.dataDir(place), ['migrate', '--finish'], fleet.surroundings(place, thisRelease));
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
};

/** A whole upgrade, back, and again; then its end. */
const upgrade = async (drill: Drill): Promise<void> => {
  const { fleet, before } = drill;
  const { places } = fleet;
  const last = places.at(-1)!;
  await replaceAll(drill, places.slice(0, -1), thisRelease);
  const early = await finish(drill);
  const isNamed = typeof early === 'string' && /earlier version run on this database: [0-9a-f]{24}/.test(early);
  note(drill, '--finish is refused while one older process runs, and names it', isNamed ? [] : [JSON.stringify(early)]);
  await replaceAll(drill, [last], thisRelease);
  await replaceAll(drill, places, before);
  await replaceAll(drill, places, thisRelease);
  const done = await finish(drill);
  const isDone = typeof done === 'object' && done.finished === done.version;
  note(drill, '--finish ends the upgrade', isDone ? [] : [JSON.stringify(done)]);
  await fleet.stop(places[0]!);
  const said = await fleet.refused(places[0]!, before);
  note(drill, 'an older process is refused after that', /migrat\w+ .*newer Florin/.test(said) ? [] : [said]);
  await fleet.start(places[0]!, thisRelease);
};

const missing = (wanted: Iterable<string>, found: ReadonlySet<string>): string[] =>
  [...wanted].filter(id => !found.has(id)).map(id => `${id} is missing`);

/** Nothing acknowledged may be lost, and every event must have arrived. */
const verify = async (drill: Drill): Promise<void> => {
  const { fleet, load, owner, receiver } = drill;
  const client = new pg.Client(owner);
  await client.connect();
  try {
    const endMs = performance.now() + settleTimeoutMs;
    const left = async (): Promise<number> =>
      (await client.query(`select count(*)::int as n from deliveries where status <> 'succeeded'`)).rows[0].n;
    while ((await left()) > 0 && performance.now() < endMs) await pause(500);
    const payments = await client.query<{ id: string }>('select id from payments');
    note(
      drill,
      `${load.made.size} payments that were acknowledged are there`,
      missing(load.made, new Set(payments.rows.map(({ id }) => id))),
    );
    const events = await client.query<{ id: string }>('select id from events');
    const arrived = new Set(receiver.seen.keys());
    note(
      drill,
      `${events.rows.length} events have arrived`,
      missing(
        events.rows.map(({ id }) => id),
        arrived,
      ),
    );
  } finally {
    await client.end();
  }
  const place = fleet.places[0]!;
  const doctor = await runFlorin(fleet.dataDir(place), ['doctor'], fleet.surroundings(place, thisRelease)).catch(
    (error: { stdout?: string }) => JSON.parse(error.stdout ?? '{}') as Record<string, unknown>,
  );
  const problems = Object.values(doctor)
    .flat()
    .filter(each => (each as { ok?: boolean }).ok === false);
  note(
    drill,
    'florin doctor finds nothing',
    problems.map(each => JSON.stringify(each)),
  );
};

export const runUpgradeDrill = async (parts: DrillParts): Promise<Check[]> => {
  const { fleet, frontDoor, before, tell } = parts;
  for (const place of fleet.places) await fleet.start(place, before);
  const key = await enrol(parts);
  const load = startLoad(frontDoor, key, { callers: parts.callers, callbackUrl: parts.receiver.url });
  const drill: Drill = { ...parts, load, checks: [] };
  try {
    await pause(parts.seconds * 1_000);
    tell(`       ${frontDoor.counts.answered} requests before the first replacement`);
    await upgrade(drill);
  } finally {
    await load.end();
  }
  const { answered, repeated } = frontDoor.counts;
  note(
    drill,
    `none of ${answered} requests failed; ${repeated} met a closed idle connection and were repeated`,
    load.failed,
  );
  await verify(drill);
  return drill.checks;
};
