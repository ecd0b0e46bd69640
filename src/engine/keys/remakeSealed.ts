import { silentLog } from '../../core/log.ts';
import type { Queryable } from '../../storage/database.ts';
import { noteChange } from '../../storage/keepSeals.ts';
import {
  isKeyedTable,
  type KeyedTable,
  keyedColumns,
  lockSealedRow,
  type RemadeRow,
  replaceKeyedColumns,
  writeRemadeRows,
} from '../../storage/keys/remadeRows.ts';
import {
  assertOnlyChanged,
  readSealedRows,
  type SealedRow,
  type SealedTableName,
  sealedTables,
  writeSeal,
} from '../../storage/seals.ts';
import { createSealKeeper, rowKeyOf } from '../seals/sealKeeper.ts';
import { isRemade, remadeColumns } from './remadeColumns.ts';
import { forged, type Remaking, type Round, remakePageRows } from './remaking.ts';

/** Whether a row has the seal of the next key, of the former one, or of none. */
export const sealStateOf = (
  { former, next }: Remaking,
  table: SealedTableName,
  text: string,
  seal: Buffer | null,
): 'next' | 'former' | 'forged' => {
  if (seal === null) return 'forged';
  if (next.isRowSeal(table, [text], seal)) return 'next';
  return former.isRowSeal(table, [text], seal) ? 'former' : 'forged';
};

const nameOf = (table: SealedTableName, text: string): string =>
  `${table} ${Object.values(rowKeyOf(table, text)).join(' ')}`;

/** What is to be done with a row that has values of the key: null if nothing is. */
export const planRow = (
  remaking: Remaking,
  table: KeyedTable,
  text: string,
  seal: Buffer | null,
): Readonly<Record<string, unknown>> | typeof forged | null => {
  const state = sealStateOf(remaking, table, text, seal);
  if (state === 'forged') return forged;
  const row = JSON.parse(text) as Record<string, unknown>;
  const columns = remadeColumns(remaking, table, row);
  if (columns === forged) return forged;
  return state === 'next' && isRemade(table, row, columns) ? null : columns;
};

/** Writes a row that is locked and says `text`. */
export const writeRow = async (
  { next }: Remaking,
  tx: Queryable,
  table: KeyedTable,
  text: string,
  columns: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const written = await replaceKeyedColumns(tx, table, text, columns);
  const keeper = createSealKeeper(next, silentLog);
  assertOnlyChanged(keeper, table, { before: text, after: written, changed: [...keyedColumns[table], 'revision'] });
  await writeSeal(tx, keeper, table, written);
  noteChange(tx, { table, before: text, after: written });
};

const remakeKeyedRow = async (
  remaking: Remaking,
  table: KeyedTable,
  { text, seal }: { text: string; seal: Buffer | null },
  round: Round,
): Promise<void> => {
  const columns = planRow(remaking, table, text, seal);
  if (columns === null) return;
  if (columns === forged) return void round.forged.push(nameOf(table, text));
  const isWritten = await remaking.db.transaction(async tx => {
    if (!(await lockSealedRow(tx, table, { text, seal: seal! }))) return false;
    await writeRow(remaking, tx, table, text, columns);
    return true;
  });
  if (isWritten) round.remade += 1;
  else round.left += 1;
};

const remakePlainRows = async (
  remaking: Remaking,
  table: SealedTableName,
  page: readonly { text: string; seal: Buffer | null }[],
  round: Round,
): Promise<void> => {
  const remade: RemadeRow[] = [];
  for (const { text, seal } of page) {
    const state = sealStateOf(remaking, table, text, seal);
    if (state === 'forged') round.forged.push(nameOf(table, text));
    if (state === 'former') {
      remade.push({ key: text, was: seal!, seal: remaking.next.rowSeal(table, [text]), part: null });
    }
  }
  const written = await writeRemadeRows(remaking.db, { table, key: sealedTables[table].key, part: null }, remade);
  round.remade += written;
  round.left += remade.length - written;
};

/** Seals the rows of a small table anew, and with them their values that are made with the key. */
export const remakeSealedTable = async (remaking: Remaking, table: SealedTableName, round: Round): Promise<void> => {
  let rows = 0;
  for (let after: string | null = null; ; ) {
    const page: SealedRow[] = await readSealedRows(remaking.db, table, { after, limit: remakePageRows, all: true });
    const sealed = page.map(({ text, seal }) => ({ text, seal: seal === null ? null : Buffer.from(seal, 'hex') }));
    if (isKeyedTable(table)) for (const row of sealed) await remakeKeyedRow(remaking, table, row, round);
    else await remakePlainRows(remaking, table, sealed, round);
    rows += page.length;
    remaking.progress(table, rows);
    if (page.length < remakePageRows) return;
    after = page.at(-1)!.text;
  }
};
