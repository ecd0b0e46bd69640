import { FlorinError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Progress } from '../../core/progress.ts';
import { hasRegisteredAct, hasUnsealedRegister } from '../../storage/audit/register.ts';
import type { Queryable } from '../../storage/database.ts';
import { claimDeploymentValue, putDeploymentValue, readDeploymentValue } from '../../storage/deployment.ts';
import { readLargeRows } from '../../storage/largeSeals.ts';
import { readSealedRows, sealedTableNames } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';
import { sealRegisters } from '../audit/register.ts';
import { sealFirstGate } from '../chain/restoreGate.ts';
import type { Context } from '../context.ts';
import { largeTables } from './largeTables.ts';
import { sealOlderCorrections } from './sealOlderCorrections.ts';
import { sealRows } from './sealRows.ts';

type Parts = Pick<Context, 'db' | 'vault'>;

const markName = 'rows_sealed';

type State = 'begun' | 'done';

const markOf = (vault: Vault, state: State): string =>
  `${state} ${vault.rowSeal('deployment', [markName, state]).toString('hex')}`;
const isMark = (vault: Vault, state: State, mark: string | null): boolean => {
  const [named, seal] = mark?.split(' ') ?? [];
  return named === state && vault.isRowSeal('deployment', [markName, state], Buffer.from(seal ?? '', 'hex'));
};

/** Whether every row of this database must have a seal. */
export const areRowsSealed = async ({ db, vault }: { db: Queryable; vault: Vault }): Promise<boolean> =>
  isMark(vault, 'done', await readDeploymentValue(db, markName));

/** Says with another master key that every row has a seal. */
export const putSealedMark = (tx: Queryable, vault: Vault): Promise<void> =>
  putDeploymentValue(tx, markName, markOf(vault, 'done'));

/**
 * For a new account: its acts say that rows had seals before. In a database of before, which no Florin has sealed yet, that
 * would be wrong.
 */
export const refuseUnsealed = async (context: { db: Queryable; vault: Vault }): Promise<void> => {
  if ((await areRowsSealed(context)) || !(await hasUnsealedRegister(context.db))) return;
  throw new FlorinError('conflict', 'The rows of this database are not sealed yet. Start Florin first.');
};

/** Somebody removed the mark of the database: to seal all rows again would make forged ones right. */
export class SealsRemoved extends Error {
  /** A table with a row that has no seal, if that is what shows it. */
  readonly table: string | null;
  constructor(table: string | null) {
    super('the rows of this database were sealed before');
    this.table = table;
  }
}

const pageRows = 1_000;

/** A table with a row that has no seal and needs one. */
const findUnsealed = async ({ db }: Pick<Context, 'db'>): Promise<string | null> => {
  for (const table of sealedTableNames) {
    if ((await readSealedRows(db, table, { after: null, limit: 1, all: false })).length > 0) return table;
  }
  for (const large of largeTables) {
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof readLargeRows>> = await readLargeRows(db, large, {
        after,
        limit: pageRows,
        all: false,
      });
      if (page.some(({ values }) => values !== null)) return large.table;
      if (page.length < pageRows) break;
      after = page.at(-1)!.key;
    }
  }
  return null;
};

/**
 * Seals the rows of a database from before there were seals, once. A run that was interrupted goes on. `wasSealed`: this
 * was done before, as far as is known outside of the database. The audit log shows it, too: acts with a register were
 * recorded with seals. Then nothing gets a seal here. In a new database, commands may have written rows before any start.
 */
type Telling = { readonly log: Log; readonly progress?: Progress };
export const sealOlderRows = async (context: Parts & Telling, wasSealed: boolean): Promise<void> => {
  if (await areRowsSealed(context)) return sealOlderCorrections(context);
  if (wasSealed) throw new SealsRemoved(null);
  const { db, vault, log } = context;
  if (await hasRegisteredAct(db)) {
    await sealOlderCorrections(context);
    const table = await findUnsealed(context);
    if (table !== null) throw new SealsRemoved(table);
    return putSealedMark(db, vault);
  }
  const claimed = await claimDeploymentValue(db, markName, markOf(vault, 'begun'));
  // Another process was faster.
  if (isMark(vault, 'done', claimed)) return;
  if (!isMark(vault, 'begun', claimed)) throw new SealsRemoved(null);
  const sealed = await sealRows(context, { all: false });
  await sealRegisters(context, { all: false });
  await sealFirstGate(context);
  if (sealed > 0) log.info({ sealed }, 'sealed the rows of this database');
  await putSealedMark(db, vault);
};
