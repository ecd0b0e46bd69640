import { createHash } from 'node:crypto';
import type { KeepSeals, Queryable, Row } from './database.ts';
import type { Version } from './floors.ts';
import {
  assertOnlyChanged,
  ForgedRow,
  type RegisterState,
  type SealedTableName,
  type SealKeeper,
  sealedTables,
  writeSeal,
} from './seals.ts';

type Triple = readonly [table: SealedTableName, text: string | null, seal: string | null];
/** A null is of a row that the statement did not write or read. */
type Marked = Row & {
  seals?: readonly Triple[] | null;
  required?: readonly Triple[];
  vouched?: RegisterState | null;
  unsealed?: readonly [table: SealedTableName, text: string, changed: readonly string[]] | null;
};

/** How far a row of a table that counts its changes has come, and the name of its floor. */
export const versionOf = (table: SealedTableName, text: string): { name: string; version: Version } | null => {
  const { key, revision } = sealedTables[table] as { key: readonly string[]; revision?: string };
  if (revision === undefined) return null;
  const row = JSON.parse(text) as Record<string, unknown>;
  const hash = createHash('sha256').update(text).digest('hex');
  const number = BigInt((row[revision] as number | undefined) ?? 0);
  return { name: [table, ...key.map(name => row[name])].join(' '), version: { number, text: hash } };
};

const raiseFloor = ({ floors }: SealKeeper, table: SealedTableName, text: string): void => {
  const seen = versionOf(table, text);
  if (seen) floors.raise(seen.name, seen.version);
};

type Asked = { readonly began: number; readonly isTransaction: boolean };

const isGenuine = (keeper: SealKeeper, [table, text, seal]: Triple, { began, isTransaction }: Asked): boolean => {
  // An outer join found no row.
  if (text === null) return true;
  const isSealed = seal !== null && keeper.isSealed(table, text, Buffer.from(seal, 'hex'));
  const seen = isSealed ? versionOf(table, text) : null;
  const isEarlier = seen !== null && keeper.floors.isEarlier(seen.name, seen.version, began);
  if (!isSealed || isEarlier) {
    keeper.noticeForged(table, text, isEarlier);
    return false;
  }
  // A transaction may read what it wrote itself, and end without it.
  if (seen !== null && !isTransaction) keeper.floors.raise(seen.name, seen.version);
  return true;
};

/** Holds the end of an audit log against the tables, and against the end that was seen before. */
const isVouchedFor = (keeper: SealKeeper, state: RegisterState, { began, isTransaction }: Asked): boolean => {
  const [name, version] = [`audit_heads ${state.accountId}`, { number: BigInt(state.sequence), text: null }];
  if (!keeper.isVouchedFor(state) || keeper.floors.isEarlier(name, version, began)) return false;
  if (!isTransaction) keeper.floors.raise(name, version);
  return true;
};

/** What a transaction wrote to sealed tables: the rows as they were, and as they are. */
export type SealedChange = {
  readonly table: SealedTableName;
  readonly before: string | null;
  readonly after: string;
};

const changes = new WeakMap<Queryable, SealedChange[]>();

/** The changes of sealed rows in this transaction so far. */
export const sealedChanges = (tx: Queryable): readonly SealedChange[] => changes.get(tx) ?? [];

/** Forgets changes that were dealt with. */
export const forgetChanges = (tx: Queryable, isDone: (change: SealedChange) => boolean): void => {
  changes.set(
    tx,
    sealedChanges(tx).filter(change => !isDone(change)),
  );
};

/** For who seals a row without a statement that does it. */
export const noteChange = (tx: Queryable, change: SealedChange): void => {
  changes.set(tx, [...sealedChanges(tx), change]);
};

const marks = ['seals', 'required', 'unsealed', 'vouched'] as const;

/** Seals what a statement wrote, and notes the change. */
const sealWritten = async (
  keeper: SealKeeper,
  tx: Queryable,
  [table, after, changed]: NonNullable<Marked['unsealed']>,
  before: string | null,
): Promise<void> => {
  if (before !== null) assertOnlyChanged(keeper, table, { before, after, changed });
  await writeSeal(tx, keeper, table, after);
  noteChange(tx, { table, before, after });
};

/**
 * Checks the seals that an answer carries. A forged row is left out of what is read, as if it were not there, so that it
 * cannot stop other rows; an update of one is refused. What was written is sealed.
 */
export const keepSealsWith = (keeper: SealKeeper): KeepSeals => ({
  begin: () => keeper.floors.now(),
  async keep<R extends Row>(tx: Queryable, rows: R[], asked: Asked): Promise<R[]> {
    const first = rows[0] as Marked | undefined;
    if (first === undefined || marks.every(name => first[name] === undefined)) return rows;
    const kept: R[] = [];
    for (const row of rows as (R & Marked)[]) {
      const { seals: given, required = [], unsealed = null, vouched, ...rest } = row;
      const seals = given ?? [];
      const forged = [...required, ...seals].find(triple => !isGenuine(keeper, triple, asked));
      if (forged && (unsealed !== null || required.includes(forged))) throw new ForgedRow(forged[0]);
      if (unsealed !== null) {
        if (!asked.isTransaction) throw new Error(`${unsealed[0]} was written outside of a transaction`);
        await sealWritten(keeper, tx, unsealed, seals.find(([table]) => table === unsealed[0])?.[1] ?? null);
      }
      if (forged) continue;
      const state = vouched && { ...vouched, isTrue: isVouchedFor(keeper, vouched, asked) };
      kept.push((vouched === undefined ? rest : { ...rest, vouched: state }) as unknown as R);
    }
    return kept;
  },
  committed(tx) {
    for (const { table, after } of sealedChanges(tx)) raiseFloor(keeper, table, after);
  },
});
