import type { Database, Queryable, Row } from './database.ts';

/** Tables that hold texts of payments. */
const tables = ['payments', 'events', 'deliveries', 'delivery_attempts', 'idempotency_keys'] as const;

const transactionsStatement = {
  name: 'clearing-transactions',
  text: `select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'virtualxid' and l.granted and l.pid <> pg_backend_pid() and a.datname = current_database()`,
};
/** The transactions in this database that run. Each may still see rows as they were. */
export const runningTransactions = async (db: Queryable): Promise<Set<string>> =>
  new Set((await db.query<Row & { id: string }>(transactionsStatement)).map(({ id }) => id));

/**
 * Frees the space of earlier rows, and takes new samples for the planner, which keeps some values of each column.
 * `rewrite`: copies the tables to new files, so that nothing of the earlier rows is left in pages. Each table is locked
 * while it is copied.
 */
export const clearEarlierRows = async (
  db: Database,
  { rewrite, tell }: { readonly rewrite: boolean; readonly tell: (table: string) => void },
): Promise<void> => {
  const how = rewrite ? 'full, analyze' : 'analyze, index_cleanup on';
  for (const table of tables) {
    tell(table);
    await db.script(`vacuum (${how}) ${table}`);
  }
  // The earlier samples. Whoever owns the database may do this.
  await db.script(`vacuum ${rewrite ? '(full) ' : ''}pg_catalog.pg_statistic`);
};
