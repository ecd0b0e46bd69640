import type pg from 'pg';
import { madeUp } from './madeUp.ts';
import { otherValues } from './otherValues.ts';
import {
  type Column,
  deleteRow,
  insertRow,
  putRow,
  type RowText,
  readAgain,
  readRows,
  type Table,
  updateRow,
  valueIn,
  withValue,
} from './tables.ts';

/** Takes an act back. */
export type Undo = () => Promise<unknown>;

/** One act of somebody who can write to the database. */
export type Forgery = {
  /** What is said in reports: `table.column`, or `table` with what is done to the row. */
  readonly name: string;
  readonly table: string;
  readonly column: string | null;
  readonly kind: 'change' | 'swap' | 'insert' | 'delete' | 'put back';
  /** Null if the row is not there any more. */
  act(client: pg.Client): Promise<Undo | null>;
};

/** A change of one column, also where it is part of the key. Florin may have written to the row meanwhile. */
const changed = (
  table: Table,
  column: Column,
  { row, value, kind }: { row: RowText; value: string; kind: Forgery['kind'] },
): Forgery => ({
  name: `${table.name}.${column.name}`,
  table: table.name,
  column: column.name,
  kind,
  async act(client) {
    const before = await readAgain(client, table, row);
    if (before === null) return null;
    const genuine = await valueIn(client, before, column.name);
    // What was another value when the acts were planned may be the genuine one by now.
    const forged = genuine === value ? otherValues(column, genuine)[0] : value;
    if (forged === undefined) return null;
    const wanted = await withValue(client, before, column.name, forged);
    const isKey = table.key.includes(column.name);
    if (isKey) {
      await deleteRow(client, table, before);
      await insertRow(client, table, wanted);
    } else await updateRow(client, table, wanted, column.name);
    const after = await readAgain(client, table, wanted);
    // Another spelling of the same value is no forgery.
    if (after === before) return null;
    return async () => {
      const now = await readAgain(client, table, wanted);
      // What Florin wrote meanwhile stays. Values are compared as the database writes them.
      if (!isKey && now !== null && after !== null && now !== after) {
        const isForged = (await valueIn(client, now, column.name)) === (await valueIn(client, after, column.name));
        return isForged ? updateRow(client, table, before, column.name) : null;
      }
      await deleteRow(client, table, wanted);
      await putRow(client, table, before);
    };
  },
});

/** Changes and swaps of each column of a row. What is not null in another row is taken away there. */
const ofColumns = async (
  client: pg.Client,
  table: Table,
  row: RowText,
  others: readonly RowText[],
): Promise<Forgery[]> => {
  const forgeries: Forgery[] = [];
  for (const column of table.columns) {
    const value = await valueIn(client, row, column.name);
    const tried = new Set([value]);
    const attempt = (kind: 'change' | 'swap', of: RowText, to: string): void => {
      tried.add(to);
      forgeries.push(changed(table, column, { row: of, value: to, kind }));
    };
    for (const other of otherValues(column, value)) attempt('change', row, other);
    for (const other of others) {
      const theirs = await valueIn(client, other, column.name);
      if (tried.has(theirs)) continue;
      attempt('swap', row, theirs);
      break;
    }
    if (!column.nullable) continue;
    for (const of of [row, ...others]) {
      if ((await valueIn(client, of, column.name)) === 'null') continue;
      attempt('change', of, 'null');
      break;
    }
  }
  return forgeries;
};

const inserted = (table: Table, what: string, row: RowText): Forgery => ({
  name: `${table.name} (${what})`,
  table: table.name,
  column: null,
  kind: 'insert',
  async act(client) {
    await insertRow(client, table, row);
    const isCounted = table.name.endsWith('_deltas');
    return () => (isCounted ? uncount(client, table, row) : deleteRow(client, table, row));
  },
});

/**
 * Florin may have added a delta to its total meanwhile. Then the opposite is added. Only what the deletion took away says
 * so: a row that can still be read may be on its way into the total.
 */
const uncount = async (client: pg.Client, table: Table, row: RowText): Promise<void> => {
  if (await deleteRow(client, table, row)) return;
  let opposite = row;
  for (const name of ['count', 'change', 'amount']) {
    if (!table.columns.some(column => column.name === name)) continue;
    opposite = await withValue(client, opposite, name, String(-BigInt(await valueIn(client, row, name))));
  }
  await insertRow(client, table, opposite);
};

/** What is done to a row as a whole. */
const ofRow = async (client: pg.Client, table: Table, row: RowText, otherAccount: string): Promise<Forgery[]> => {
  const whole = { table: table.name, column: null };
  const forgeries: Forgery[] = [
    {
      ...whole,
      name: `${table.name} (deleted)`,
      kind: 'delete',
      async act(target) {
        const now = await readAgain(target, table, row);
        if (now === null) return null;
        await deleteRow(target, table, now);
        return () => putRow(target, table, now);
      },
    },
  ];
  const hasAccount = table.columns.some(({ name }) => name === 'account_id');
  const lastKey = table.key.at(-1)!;
  const lastColumn = table.columns.find(({ name }) => name === lastKey)!;
  const [otherKey = null] = otherValues(lastColumn, await valueIn(client, row, lastKey));
  const copies: [string, RowText][] = [];
  if (otherKey !== null) copies.push(['copied under another key', await withValue(client, row, lastKey, otherKey)]);
  if (hasAccount) {
    const theirs = await withValue(client, row, 'account_id', JSON.stringify(otherAccount));
    if (theirs !== row && table.key.includes('account_id')) copies.push(['copied to another account', theirs]);
  }
  for (const [what, copy] of copies) {
    forgeries.push(inserted(table, what, copy));
  }
  return forgeries;
};

/** Rows that are not any more what they were, put back. */
const putBack = async (client: pg.Client, table: Table, earlier: readonly RowText[]): Promise<Forgery[]> => {
  const forgeries: Forgery[] = [];
  for (const old of earlier) {
    const now = await readAgain(client, table, old);
    if (now === old) continue;
    const differing: string[] = [];
    for (const { name } of now === null ? [] : table.columns) {
      if ((await valueIn(client, now!, name)) !== (await valueIn(client, old, name))) differing.push(name);
    }
    // An earlier value of one column is no more than a change of it.
    const column = differing.length === 1 ? differing[0]! : null;
    const what = now === null ? 'a deleted row put back' : 'an earlier row put back';
    forgeries.push({
      name: column === null ? `${table.name} (${what})` : `${table.name}.${column}`,
      table: table.name,
      column,
      kind: 'put back',
      async act(target) {
        const current = await readAgain(target, table, old);
        await putRow(target, table, old);
        return () => (current === null ? deleteRow(target, table, old) : putRow(target, table, current));
      },
    });
  }
  return forgeries;
};

export type Planning = {
  /** Rows of a table that are tried. */
  readonly rows: number;
  /** What is looked at: rows that contain the first of these words are tried first, and one for each of `also`, too. */
  readonly words: readonly string[];
  readonly also: readonly string[];
  /** The account of somebody else, to copy rows to. */
  readonly otherAccount: string;
  /** Values for columns with these names, as JSON text, where a row is made up. */
  readonly ofFirst: ReadonlyMap<string, string>;
  /** What tables contained before the last changes. */
  readonly earlier: ReadonlyMap<string, readonly RowText[]>;
};

/** Further rows that values are taken from. */
const comparedRows = 19;

/** Counts that Florin changes all the time: those of an account whose payments do not change. */
const isTotal = ({ name }: Table): boolean => name.endsWith('_totals');
/** A delta is soon part of a total, and cannot be changed there. */
const isDelta = ({ name }: Table): boolean => name.endsWith('_deltas');

/** What is tried on a table, as it is now. */
export const planForgeries = async (client: pg.Client, table: Table, planning: Planning): Promise<Forgery[]> => {
  const words = isTotal(table) ? [planning.otherAccount] : planning.words;
  const rows = await readRows(client, table, planning.rows + comparedRows, words);
  if (rows.length === 0 || isDelta(table)) {
    return [inserted(table, 'made up', await madeUp(client, table, planning.ofFirst))];
  }
  if (table.name === 'deployment') return ofDeployment(client, table, rows);
  const chosen = new Set(rows.slice(0, planning.rows));
  for (const word of isTotal(table) ? [] : planning.also) {
    const [row] = await readRows(client, table, 1, [word]);
    if (row?.includes(word)) chosen.add(row);
  }
  const forgeries: Forgery[] = [];
  for (const row of chosen) {
    const others = rows.filter(other => other !== row);
    forgeries.push(...(await ofColumns(client, table, row, others)));
    forgeries.push(...(await ofRow(client, table, row, planning.otherAccount)));
  }
  const earlier = isTotal(table) ? [] : (planning.earlier.get(table.name) ?? []);
  forgeries.push(...(await putBack(client, table, earlier)));
  return forgeries;
};

/** Each of its rows says something else, so an act is named by the row: `deployment.name_of_the_row`. */
const ofDeployment = async (client: pg.Client, table: Table, rows: readonly RowText[]): Promise<Forgery[]> => {
  const forgeries: Forgery[] = [];
  for (const row of rows) {
    const [name] = /^[a-z_]+/.exec(JSON.parse(await valueIn(client, row, 'name')) as string) ?? [''];
    const others = rows.filter(other => other !== row);
    for (const forgery of [
      ...(await ofColumns(client, table, row, others)),
      ...(await ofRow(client, table, row, '')),
    ]) {
      forgeries.push(forgery.kind === 'insert' ? forgery : { ...forgery, name: `${table.name}.${name}` });
    }
  }
  return forgeries;
};
