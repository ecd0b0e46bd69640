import type { Log } from '../../core/log.ts';
import { type Progress, silentProgress } from '../../core/progress.ts';
import { isOutOfTime } from '../../storage/database.ts';
import { countUnsealed, type LargeTable, readLargeRows, writeLargeSeals } from '../../storage/largeSeals.ts';
import { readSealedRows, type SealedTableName, sealedTableNames, writeSeal } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Context } from '../context.ts';
import { largeTables } from './largeTables.ts';
import { createSealKeeper } from './sealKeeper.ts';

const pageRows = 1_000;

type Parts = Pick<Context, 'db' | 'vault'> & { readonly log: Log; readonly progress?: Progress };
/** Is told how many rows were read, and how many of them were sealed. */
type OnRows = (read: number, sealed: number) => void;
/** Which rows are looked at: those without a seal, or every row; of some tables, or of all. */
type Which = { readonly all: boolean; readonly tables?: (name: string) => boolean };

const hasSeal = (vault: Vault, table: string, values: readonly (string | null)[], seal: string | null): boolean =>
  seal !== null && vault.isRowSeal(table, values, Buffer.from(seal, 'hex'));

const sealTable = async (
  { db, vault, log }: Parts,
  table: SealedTableName,
  { all }: Which,
  onRows: OnRows,
): Promise<void> => {
  const keeper = createSealKeeper(vault, log);
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readSealedRows>> = await readSealedRows(db, table, {
      after,
      limit: pageRows,
      all,
    });
    const lacking = rows.filter(({ text, seal }) => !hasSeal(vault, table, [text], seal));
    if (lacking.length > 0) {
      await db.transaction(async tx => {
        for (const { text } of lacking) await writeSeal(tx, keeper, table, text);
      });
    }
    onRows(rows.length, lacking.length);
    if (rows.length < pageRows) return;
    after = rows.at(-1)!.text;
  }
};

const sealLargeTable = async (
  { db, vault }: Parts,
  large: LargeTable,
  { all }: Which,
  onRows: OnRows,
): Promise<void> => {
  const { table } = large;
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readLargeRows>> = await readLargeRows(db, large, {
      after,
      limit: pageRows,
      all,
    });
    const seals = rows.flatMap(({ key, values, seal }) =>
      values === null || hasSeal(vault, table, values, seal) ? [] : [{ key, seal: vault.rowSeal(table, values) }],
    );
    if (seals.length > 0) await writeLargeSeals(db, large, seals, all);
    onRows(rows.length, seals.length);
    if (rows.length < pageRows) return;
    after = rows.at(-1)!.key;
  }
};

/** How many rows of these tables lack a seal; null if it takes too long to count them. */
const countLacking = async ({ db }: Parts, { tables = () => true, all }: Which): Promise<number | null> => {
  const wanted = [...sealedTableNames.map(table => ({ table })), ...largeTables].filter(({ table }) => tables(table));
  try {
    let total = 0;
    for (const each of wanted) total += await countUnsealed(db, each, all);
    return total;
  } catch (error) {
    if (isOutOfTime(error)) return null;
    throw error;
  }
};

/** Seals rows as they are, if their seal is missing or wrong: their content is believed. Returns how many. */
export const sealRows = async (context: Parts, which: Which): Promise<number> => {
  const { tables = () => true } = which;
  const { progress = silentProgress } = context;
  const of = await countLacking(context, which);
  let [read, sealed] = [0, 0];
  const onRows: OnRows = (more, moreSealed) => {
    read += more;
    sealed += moreSealed;
    if (more > 0) progress({ message: 'sealing rows', done: read, of });
  };
  for (const table of sealedTableNames.filter(tables)) await sealTable(context, table, which, onRows);
  for (const large of largeTables.filter(({ table }) => tables(table))) {
    await sealLargeTable(context, large, which, onRows);
  }
  return sealed;
};
