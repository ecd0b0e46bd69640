import type { Log } from '../../core/log.ts';
import { type Progress, silentProgress } from '../../core/progress.ts';
import { isOutOfTime, type Queryable } from '../../storage/database.ts';
import { claimDeploymentValue, putDeploymentValue, readDeploymentValue } from '../../storage/deployment.ts';
import { countUnsealed, type LargeTable, readLargeRows, writeLargeSeals } from '../../storage/largeSeals.ts';
import { readSealedRows, type SealedTableName, sealedTableNames, writeSeal } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';
import { sealRegisters } from '../audit/register.ts';
import type { Context } from '../context.ts';
import { largeTables } from './largeTables.ts';
import { createSealKeeper } from './sealKeeper.ts';

const pageRows = 1_000;

type Parts = Pick<Context, 'db' | 'vault'> & { readonly log: Log; readonly progress?: Progress };
/** Is told how many rows were read, and how many of them were sealed. */
type OnRows = (read: number, sealed: number) => void;
/** Which rows get a seal: those without one, or every row; of some tables, or of all. */
type Which = { readonly all: boolean; readonly tables?: (name: string) => boolean };

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
    await db.transaction(async tx => {
      for (const { text } of rows) await writeSeal(tx, keeper, table, text);
    });
    onRows(rows.length, rows.length);
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
    const seals = rows.flatMap(({ key, values }) =>
      values === null ? [] : [{ key, seal: vault.rowSeal(table, values) }],
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

/** Seals rows as they are: their content is believed. Returns how many. */
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

const markName = 'rows_sealed';

type State = 'begun' | 'done';

const markOf = (vault: Vault, state: State): string =>
  `${state} ${vault.rowSeal('deployment', [markName, state]).toString('hex')}`;
const isMark = (vault: Vault, state: State, mark: string | null): boolean => {
  const [named, seal] = mark?.split(' ') ?? [];
  return named === state && vault.isRowSeal('deployment', [markName, state], Buffer.from(seal ?? '', 'hex'));
};

/** Whether every row of this database must have a seal. */
export const areRowsSealed = async ({ db, vault }: Pick<Context, 'db' | 'vault'>): Promise<boolean> =>
  isMark(vault, 'done', await readDeploymentValue(db, markName));

/** Says with another master key that every row has a seal. */
export const putSealedMark = (tx: Queryable, vault: Vault): Promise<void> =>
  putDeploymentValue(tx, markName, markOf(vault, 'done'));

/** Somebody removed the mark of the database: to seal all rows again would make forged ones right. */
export class SealsRemoved extends Error {}

/**
 * Seals the rows of a database from before there were seals, once. A run that was interrupted goes on. `wasSealed`: this
 * was done before, as far as is known outside of the database.
 */
export const sealOlderRows = async (context: Parts, wasSealed: boolean): Promise<void> => {
  if (await areRowsSealed(context)) return;
  if (wasSealed) throw new SealsRemoved();
  const { vault } = context;
  const claimed = await claimDeploymentValue(context.db, markName, markOf(vault, 'begun'));
  if (!isMark(vault, 'begun', claimed)) throw new SealsRemoved();
  const sealed = await sealRows(context, { all: false });
  await sealRegisters(context, { all: false });
  if (sealed > 0) context.log.info({ sealed }, 'sealed the rows of this database');
  await putSealedMark(context.db, vault);
};
