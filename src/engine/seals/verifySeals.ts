import { branchFaults } from '../../storage/chain/branches.ts';
import { type LargeTable, readLargeRows } from '../../storage/largeSeals.ts';
import { readSealedRows, type SealedTableName, sealedTableNames } from '../../storage/seals.ts';
import { verifyRegisters } from '../audit/register.ts';
import type { Verified } from '../chain/verifyRecords.ts';
import type { Context } from '../context.ts';
import { largeTables } from './largeTables.ts';
import { rowKeyOf } from './sealKeeper.ts';

const pageRows = 1_000;
/** Of one table. More would hide the other tables. */
const maxShown = 20;

type Parts = Pick<Context, 'db' | 'vault'>;

const named = (key: Record<string, unknown>): string => Object.values(key).join(' ');

const verifyTable = async ({ db, vault }: Parts, table: SealedTableName, problems: string[]): Promise<number> => {
  let checked = 0;
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readSealedRows>> = await readSealedRows(db, table, {
      after,
      limit: pageRows,
      all: true,
    });
    for (const { text, seal } of rows) {
      if (seal !== null && vault.isRowSeal(table, [text], Buffer.from(seal, 'hex'))) checked += 1;
      else problems.push(`${table} ${named(rowKeyOf(table, text))} was changed in the database`);
    }
    if (rows.length < pageRows || problems.length > maxShown) return checked;
    after = rows.at(-1)!.text;
  }
};

const verifyLargeTable = async ({ db, vault }: Parts, large: LargeTable, problems: string[]): Promise<number> => {
  let checked = 0;
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof readLargeRows>> = await readLargeRows(db, large, {
      after,
      limit: pageRows,
      all: true,
    });
    for (const { key, values, seal } of rows) {
      if (values === null) continue;
      if (seal !== null && vault.isRowSeal(large.table, values, Buffer.from(seal, 'hex'))) checked += 1;
      else problems.push(`${large.table} ${named(JSON.parse(key))} was changed in the database`);
    }
    if (rows.length < pageRows || problems.length > maxShown) return checked;
    after = rows.at(-1)!.key;
  }
};

/** Verifies the seal of every row, and that no branch of a chain is missing. */
export const verifySeals = async (context: Parts): Promise<Verified> => {
  const all: string[] = [];
  let checked = 0;
  const collect = async (verify: (problems: string[]) => Promise<number>): Promise<void> => {
    const problems: string[] = [];
    checked += await verify(problems);
    all.push(...problems.slice(0, maxShown), ...(problems.length > maxShown ? ['and more'] : []));
  };
  for (const table of sealedTableNames) await collect(problems => verifyTable(context, table, problems));
  for (const large of largeTables) await collect(problems => verifyLargeTable(context, large, problems));
  const branches = (await branchFaults(context.db)).map(
    caip2 =>
      `the branches of ${caip2} are not those that its row names: rows were removed, or an earlier one was put back`,
  );
  const registers = await verifyRegisters(context);
  return { checked: checked + registers.checked, problems: [...all, ...branches, ...registers.problems] };
};
