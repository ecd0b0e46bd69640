import type { Log } from '../../core/log.ts';
import { type LargeTable, readLargeRows, writeLargeSeals } from '../../storage/largeSeals.ts';
import { readSealedRows, type SealedTableName, sealedTableNames, writeSeal } from '../../storage/seals.ts';
import type { Context } from '../context.ts';
import { largeTables } from './largeTables.ts';
import { createSealKeeper } from './sealKeeper.ts';

const pageRows = 1_000;
const reportedRows = 100_000;

type Parts = Pick<Context, 'db' | 'vault'> & { readonly log: Log };
/** Which rows get a seal: those without one, or every row; of some tables, or of all. */
type Which = { readonly all: boolean; readonly tables?: (name: string) => boolean };

const sealTable = async ({ db, vault, log }: Parts, table: SealedTableName, { all }: Which): Promise<number> => {
  const keeper = createSealKeeper(vault, log);
  let sealed = 0;
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readSealedRows>> = await readSealedRows(db, table, {
      after,
      limit: pageRows,
      all,
    });
    await db.transaction(async tx => {
      for (const { text } of rows) await writeSeal(tx, keeper, table, text);
    });
    sealed += rows.length;
    if (rows.length < pageRows) return sealed;
    after = rows.at(-1)!.text;
  }
};

const sealLargeTable = async ({ db, vault, log }: Parts, large: LargeTable, { all }: Which): Promise<number> => {
  const { table } = large;
  let [read, sealed] = [0, 0];
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readLargeRows>> = await readLargeRows(db, large, {
      after,
      limit: pageRows,
      all,
    });
    const seals = rows.flatMap(({ key, values }) =>
      values === null ? [] : [{ key, seal: vault.rowSeal(table, values) }],
    );
    if (seals.length > 0) await writeLargeSeals(db, large, seals, all);
    read += rows.length;
    sealed += seals.length;
    if (read % reportedRows < pageRows && read >= reportedRows) log.info({ table, read, sealed }, 'sealing rows');
    if (rows.length < pageRows) return sealed;
    after = rows.at(-1)!.key;
  }
};

/** Seals rows as they are: their content is believed. Returns how many. */
export const sealRows = async (context: Parts, which: Which): Promise<number> => {
  let sealed = 0;
  const { tables = () => true } = which;
  for (const table of sealedTableNames.filter(tables)) sealed += await sealTable(context, table, which);
  for (const large of largeTables.filter(({ table }) => tables(table))) {
    sealed += await sealLargeTable(context, large, which);
  }
  return sealed;
};
