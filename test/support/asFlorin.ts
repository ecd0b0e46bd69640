import { silentLog } from '../../src/core/log.ts';
import type { AdminContext } from '../../src/engine/access/accounts.ts';
import { sealRegisters } from '../../src/engine/audit/register.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import { isRegistered } from '../../src/storage/audit/register.ts';
import type { Database, Queryable, Statement } from '../../src/storage/database.ts';
import { readSealedRows } from '../../src/storage/seals.ts';

/** The tables that a statement writes. */
const named = (sql: string): ReadonlySet<string> => {
  const written = new Set([...sql.matchAll(/\b(?:update|into|delete from)\s+([a-z_]+)/g)].map(([, table]) => table!));
  // The seal of a transfer covers the time of its block.
  if (written.has('blocks')) written.add('transfers');
  return written;
};

/** Florin's own statements seal what they write. */
const isOfTest = ({ name }: Statement): boolean => name === '' || name.startsWith('test-');

const revisionStatement = {
  name: 'test-revision',
  text: 'update people set revision = coalesce(revision, 0) + 1 where id = any($1)',
};
/** Each change of a person counts. */
const raiseRevisions = async ({ db, vault }: Pick<AdminContext, 'db' | 'vault'>): Promise<void> => {
  const rows = await readSealedRows(db, 'people', { after: null, limit: 100_000, all: true });
  const changed = rows.filter(({ text, seal }) => !vault.isRowSeal('people', [text], Buffer.from(seal ?? '', 'hex')));
  await db.query(revisionStatement, [changed.map(({ text }) => JSON.parse(text).id)]);
};

/** Seals the rows of the tables that a statement wrote, as if Florin had written them. */
const resealed = async (admin: Pick<AdminContext, 'db' | 'vault'>, sql: string): Promise<void> => {
  const written = named(sql);
  if (written.has('people')) await raiseRevisions(admin);
  await sealRows({ ...admin, log: silentLog }, { all: true, tables: table => written.has(table) });
  if ([...written].some(isRegistered)) await sealRegisters(admin, { all: true });
};

/** A database whose writes by tests get seals. Tests of forgeries use the database itself. */
export const asFlorin = (admin: Pick<AdminContext, 'db' | 'vault'>): Database => ({
  ...admin.db,
  async script(sql) {
    await admin.db.script(sql);
    await resealed(admin, sql);
  },
  async query(statement: Statement, values?: readonly unknown[]) {
    const rows = await admin.db.query(statement, values);
    if (isOfTest(statement) && named(statement.text).size > 0) await resealed(admin, statement.text);
    return rows as never;
  },
});

/** The same for writes of tests inside of a transaction, whose locks would stop them otherwise. */
export const inTransaction = ({ db, vault }: Pick<AdminContext, 'db' | 'vault'>, tx: Queryable): Database =>
  asFlorin({ vault, db: { ...db, query: tx.query, transaction: work => work(tx) } });
