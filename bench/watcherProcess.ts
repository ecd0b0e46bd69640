import { watchedChains } from '../src/cli/watchedChains.ts';
import { type Log, silentLog } from '../src/core/log.ts';
import type { PostgresConnection } from '../src/local/postgres/startPostgres.ts';
import type { Database, Queryable, Row, Statement } from '../src/storage/database.ts';
import { startWatchers } from '../src/workers/watcher.ts';
import { openContext } from './benchContext.ts';

/**
 * Runs Florin's watcher alone on a given database and node. Reports when it has caught up, then runs until
 * disconnected.
 */
export type WatcherStart = { readonly dataDir: string; readonly service: PostgresConnection; readonly rpcUrl: string };
export type WatcherDone = {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Time spent waiting for each statement, by its name, in seconds. */
  readonly statements: Readonly<Record<string, number>>;
};

/** Warnings are printed: a watcher that warns did not do what is measured. */
const loudLog: Log = { ...silentLog, warn: (...said) => console.error(said), error: (...said) => console.error(said) };

/** Calls `onCaughtUp` when the watcher records that every block is processed. */
const timed = (db: Database, statements: Record<string, number>, onCaughtUp: () => void): Database => {
  const count = async <T>(name: string, work: Promise<T>): Promise<T> => {
    const begunMs = performance.now();
    const result = await work;
    statements[name] = (statements[name] ?? 0) + (performance.now() - begunMs) / 1000;
    return result;
  };
  const over = (inner: Queryable): Queryable => ({
    async query<R extends Row>(statement: Statement, values?: readonly unknown[]) {
      const rows = await count(statement.name, inner.query<R>(statement, values));
      if (statement.name === 'chain-idle' && values?.some(value => value instanceof Date)) onCaughtUp();
      return rows;
    },
  });
  return {
    ...db,
    ...over(db),
    transaction: work => {
      let lastMs = 0;
      const within = db.transaction(async tx => {
        const result = await work(over(tx));
        lastMs = performance.now();
        return result;
      });
      return within.finally(() => {
        statements.commit = (statements.commit ?? 0) + (performance.now() - lastMs) / 1000;
      });
    },
  };
};

process.once('message', async ({ dataDir, service, rpcUrl }: WatcherStart) => {
  const opened = await openContext({ dataDir, service, rpcUrl, log: loudLog });
  const statements: Record<string, number> = {};
  const caughtUp = Promise.withResolvers<void>();
  const context = { ...opened, db: timed(opened.db, statements, caughtUp.resolve) };
  const local = { rpcUrl, pid: () => null, stop: async () => {} };
  const chains = watchedChains(context.networks.all(), local, context);
  const cpuBefore = process.cpuUsage();
  const begunMs = performance.now();
  const watchers = startWatchers(context, chains, 'bench');
  await caughtUp.promise;
  const seconds = (performance.now() - begunMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const done: WatcherDone = { seconds, cpuSeconds: (user + system) / 1e6, statements };
  process.send!(done);
  process.once('disconnect', async () => {
    await watchers.stop();
    process.exit(0);
  });
});
