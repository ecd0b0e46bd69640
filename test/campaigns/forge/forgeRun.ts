import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { launchFlorin, stopFlorin, within } from '../chaos/florinProcess.ts';
import { createRandom } from '../fuzz/random.ts';
import { type Forgery, planForgeries } from './forgeries.ts';
import { createJudge, type Judged, type Outcome } from './judge.ts';
import { type Listed, readListed } from './listed.ts';
import { valuesOfFirst } from './madeUp.ts';
import { makeScene, type Scene } from './scene.ts';
import { leftOut, type RowText, readRows, readTables, type Table } from './tables.ts';

export type ForgeOptions = {
  /** Only these tables; null for all. */
  readonly tables: readonly string[] | null;
  /** Rows of each table. */
  readonly rows: number;
  /** Only so many acts, chosen by the seed; null for all. */
  readonly sample: number | null;
  readonly seed: string;
  /** How many Florins at a time, each with a database of its own. */
  readonly rooms: number;
  tell(line: string): void;
  judged(forgery: Forgery, judged: Judged): void;
};

export type ForgeReport = {
  readonly counts: Readonly<Record<Outcome, number>>;
  /** Acts that the service's own role could have done, too. */
  readonly asService: number;
  readonly emptyTables: readonly string[];
  /** Names in the list of SECURITY.md that no act needed. */
  readonly notNeeded: readonly string[];
};

const startTimeoutMs = 120_000;
const remembered = 8;

const rememberInto =
  (earlier: Map<string, RowText[]>) =>
  async (client: pg.Client, first: string): Promise<void> => {
    for (const table of await readTables(client))
      earlier.set(table.name, await readRows(client, table, remembered, [first]));
    await client.end();
  };

/** What is left to do, for all rooms: rows differ between rooms, so each plans the tables that it takes. */
type Queue = { take(tables: readonly Table[]): Table | null };

const createQueue = (only: readonly string[] | null): Queue => {
  const taken = new Set<string>();
  return {
    take(tables) {
      const next = tables.find(({ name }) => !taken.has(name) && (only === null || only.includes(name)));
      if (next) taken.add(next.name);
      return next ?? null;
    },
  };
};

type Work = { readonly options: ForgeOptions; readonly queue: Queue; readonly listed: Listed };

const chosen = (forgeries: readonly Forgery[], { sample, seed }: ForgeOptions): readonly Forgery[] => {
  if (sample === null) return forgeries;
  const random = createRandom(seed);
  const shuffled = forgeries.map(forgery => ({ forgery, at: random.next() })).sort((a, b) => a.at - b.at);
  return shuffled.slice(0, sample).map(({ forgery }) => forgery);
};

/** The blocks with what a payment received. */
const blocksOf = async ({ client }: Scene, id: string): Promise<string[]> => {
  const { rows } = await client.query('select block_hash from transfers where payment_id = $1', [id]);
  return rows.map(row => row.block_hash as string);
};

/** The acts of a room, table by table; of a sample, all at once. */
async function* plan(scene: Scene, earlier: ReadonlyMap<string, RowText[]>, { options, queue }: Work) {
  const tables = await readTables(scene.client);
  const [unpaid] = scene.unpaid.keys();
  const planning = {
    rows: options.rows,
    words: [unpaid!, scene.accounts[0]],
    also: [scene.paid, scene.reversed, ...(await blocksOf(scene, scene.paid))],
    otherAccount: scene.accounts[1],
    ofFirst: await valuesOfFirst(scene),
    earlier,
  };
  const all: Forgery[] = [];
  for (let table = queue.take(tables); table !== null; table = queue.take(tables)) {
    const forgeries = await planForgeries(scene.client, table, planning);
    if (options.sample === null) yield forgeries;
    else all.push(...forgeries);
  }
  if (options.sample !== null) yield chosen(all, options);
}

type Tally = { readonly judged: Judged[]; readonly emptyTables: string[] };

const inRoom = async (work: Work, tally: Tally, isFirst: boolean): Promise<void> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-forge-'));
  const florin = launchFlorin(room, [], { env: { FLORIN_ROLES: 'api,watch,deliver' } });
  const { tell, judged } = work.options;
  try {
    const ready = await within(florin.ready, startTimeoutMs);
    if (!ready) throw new Error(`Florin was not ready in time:\n${florin.output()}`);
    const earlier = new Map<string, RowText[]>();
    const scene = await makeScene(room, ready, rememberInto(earlier));
    try {
      const { judge, traces } = await createJudge(scene, room, { listed: work.listed.reasonOf, tell });
      for (const table of isFirst ? await readTables(scene.client) : []) {
        if ((await readRows(scene.client, table, 1)).length === 0) tally.emptyTables.push(table.name);
      }
      for await (const forgeries of plan(scene, earlier, work)) {
        for (const forgery of forgeries) {
          const outcome = await judge(forgery);
          tally.judged.push(outcome);
          judged(forgery, outcome);
        }
        const left = await traces();
        if (left !== '') throw new Error(`acts on ${forgeries.at(-1)?.table} were not undone: ${left}`);
      }
    } finally {
      await scene.close();
    }
  } finally {
    await stopFlorin(florin, room);
    await rm(room, { recursive: true, force: true });
  }
};

/** Does all acts, in several rooms at a time, because most of the time is spent waiting. */
export const runForge = async (options: ForgeOptions): Promise<ForgeReport> => {
  const listed = await readListed();
  const work: Work = { options, queue: createQueue(options.tables), listed };
  const tally: Tally = { judged: [], emptyTables: [] };
  const rooms = Array.from({ length: options.sample === null ? options.rooms : 1 }, (_, at) =>
    inRoom(work, tally, at === 0),
  );
  // A room that fails must not leave the others running.
  for (const { status, reason } of (await Promise.allSettled(rooms)) as PromiseRejectedResult[]) {
    if (status === 'rejected') throw reason;
  }
  const counted = (outcome: Outcome): number => tally.judged.filter(each => each.outcome === outcome).length;
  return {
    counts: {
      refused: counted('refused'),
      found: counted('found'),
      listed: counted('listed'),
      gone: counted('gone'),
      FAILED: counted('FAILED'),
    },
    asService: tally.judged.filter(({ asService }) => asService.isAllowed).length,
    emptyTables: tally.emptyTables,
    notNeeded: listed.unused().filter(name => !leftOut.has(name)),
  };
};
