import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { localCaip2, startWatchScene, type WatchScene } from './watchScene.ts';

let scene: WatchScene;
beforeAll(async () => {
  scene = await startWatchScene();
  await scene.processed();
  // One row per writing statement, whatever it changes.
  await scene.florin.admin.db.script(`create table writes (what text not null);
    grant insert on writes to public;
    create function note_write() returns trigger language plpgsql as
      'begin insert into writes values (tg_table_name); return null; end';
    create trigger noted after insert on network_status for each statement execute function note_write();
    create trigger noted after update of lease_until on chains for each row
      when (old.latest_number is not distinct from new.latest_number) execute function note_write()`);
});

const read = <R extends Record<string, unknown>>(text: string): Promise<R[]> =>
  scene.florin.admin.db.query<R>({ name: '', text });

const writes = async (): Promise<{ told: number; beats: number }> => {
  const rows = await read<{ told: number; beats: number }>(`select
    count(*) filter (where what = 'network_status')::int as told, count(*) filter (where what = 'chains')::int as beats
    from writes`);
  return rows[0]!;
};

/** How many of the next heartbeats wrote a status while `work` is repeated. */
const toldInBeats = async (beats: number, work: () => Promise<void>): Promise<number> => {
  const before = await writes();
  const ask = () => work().then(writes);
  return (await until(ask, now => now.beats - before.beats >= beats)).told - before.told;
};

test('all networks of a chain are told of in one statement', async () => {
  const rows = await read<{ network: string; xmin: string }>(
    `select network, xmin::text from network_status where caip2 = '${localCaip2}' order by network`,
  );
  const networks = ['arbitrum', 'avalanche', 'base', 'bsc', 'ethereum', 'optimism', 'polygon'];
  expect(rows.map(({ network }) => network)).toEqual(networks);
  expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(1);
});

test('a chain at rest is told of with about every second heartbeat', { tags: ['thorough'] }, async () => {
  const told = await toldInBeats(12, async () => {});
  expect(told).toBeGreaterThanOrEqual(5);
  // May be more than six if heartbeats are slow on a busy machine.
  expect(told).toBeLessThanOrEqual(9);
});

test('a chain that moves is told of with every heartbeat', { tags: ['thorough'] }, async () => {
  expect(await toldInBeats(12, () => scene.chain.mine())).toBeGreaterThanOrEqual(10);
});
