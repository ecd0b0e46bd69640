import type { Context } from '../engine/context.ts';
import type { Family } from '../metrics/exposition.ts';
import type { MeteredChain, Metrics } from '../metrics/metrics.ts';
import { familyOf } from '../metrics/metricTable.ts';
import { createProcessMetrics } from '../metrics/processMetrics.ts';
import type { Database } from '../storage/database.ts';
import { monotonicMs } from './compose.ts';
import type { Stack } from './stack.ts';

type Pools = Readonly<Record<string, Pick<Database, 'poolUse'>>>;

export const poolsOf = ({ db, listDb, exportSource }: Pick<Context, 'db' | 'listDb' | 'exportSource'>): Pools => ({
  main: db,
  lists: listDb,
  ...(exportSource.standby ? { exports: exportSource.standby } : {}),
});

const poolFamilies = (pools: Pools): Family[] => {
  const used = Object.entries(pools).map(([pool, db]) => ({ pool, ...db.poolUse() }));
  return [
    familyOf(
      'florin_database_connections',
      used.flatMap(({ pool, inUse, idle }) => [
        { labels: { pool, state: 'in_use' }, value: inUse },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ),
    familyOf(
      'florin_database_connections_waiting',
      used.map(({ pool, waiting: value }) => ({ labels: { pool }, value })),
    ),
  ];
};

/** What a process knows of itself: what it uses, and what it has counted. */
export const openOwnMetrics = (
  metrics: Metrics,
  { pools, chains, stack }: { readonly pools: Pools; readonly chains: readonly MeteredChain[]; readonly stack: Stack },
): (() => Family[]) => {
  metrics.startSeries(chains);
  const own = createProcessMetrics(monotonicMs);
  stack.push('process metrics', own.stop);
  return () => [...own.families(), ...metrics.families(), ...poolFamilies(pools)];
};
