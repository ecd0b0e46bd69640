import type { Queryable, Row } from './database.ts';

/**
 * A large table, whose seals are computed where its rows are written. `values` has what a seal covers, in order, as SQL
 * for the alias t that gives text or null. `open` has the columns that it does not cover, each with the reason.
 */
export type LargeTable = {
  readonly table: string;
  readonly key: readonly string[];
  readonly values: readonly string[];
  /** The columns that `values` covers. */
  readonly covered: readonly string[];
  readonly open: Readonly<Record<string, string>>;
  /** SQL for the alias t: rows that have no seal and need none. */
  readonly unsealed?: string;
};

/** Makes and checks seals with a key that is not in the database. */
export type RowSealer = {
  rowSeal(table: string, values: readonly (string | null)[]): Buffer;
  isRowSeal(table: string, values: readonly (string | null)[], seal: Uint8Array): boolean;
};

/** Whether the seal, in hexadecimal digits, is the one of these values. */
export const isSealedAs = (
  sealer: RowSealer,
  table: string,
  values: readonly (string | null)[],
  seal: string | null,
): boolean => seal !== null && sealer.isRowSeal(table, values, Buffer.from(seal, 'hex'));

/** SQL for the milliseconds of a time, as text. */
export const msText = (time: string): string => `(extract(epoch from ${time}) * 1000)::bigint::text`;

/** A row's key as JSON, what its seal covers, and its seal in hexadecimal digits. */
export type LargeRow = Row & {
  readonly key: string;
  /** Null in a row that was not asked for. */
  readonly values: readonly (string | null)[] | null;
  readonly seal: string | null;
};

const keyed = (key: readonly string[], alias: string): string => key.map(name => `${alias}.${name}`).join(', ');

/**
 * A page of rows in the order of their keys, after the key `after`. Asked for are all that need a seal, or only those
 * without one. The page has the others too: to pass over millions of them would take longer than a statement may.
 */
export const readLargeRows = (
  db: Queryable,
  { table, key, values, unsealed = 'false' }: LargeTable,
  page: { after: string | null; limit: number; all: boolean },
): Promise<LargeRow[]> => {
  const keyJson = `json_build_object(${key.map(name => `'${name}', t.${name}`).join(', ')})::text`;
  const after = `(select ${keyed(key, 'o')} from jsonb_populate_record(null::${table}, $1::text::jsonb) as o)`;
  return db.query<LargeRow>(
    {
      name: `large-rows-${table}`,
      text: `select ${keyJson} as key, encode(t.row_seal, 'hex') as seal,
          case when not (${unsealed}) and ($3 or t.row_seal is null) then json_build_array(${values.join(', ')}) end as values
        from (
          select * from ${table} p where $1::text is null or (${keyed(key, 'p')}) > ${after}
          order by ${keyed(key, 'p')} limit $2
        ) t order by ${keyed(key, 't')}`,
    },
    [page.after, page.limit, page.all],
  );
};

/** How many rows have no seal and need one, or how many rows there are. */
export const countUnsealed = async (
  db: Queryable,
  { table, unsealed = 'false' }: Pick<LargeTable, 'table' | 'unsealed'>,
  all: boolean,
): Promise<number> => {
  const text = `select count(*)::float8 as total from ${table} t where ($1 or t.row_seal is null) and not (${unsealed})`;
  return (await db.query<Row & { total: number }>({ name: `unsealed-count-${table}`, text }, [all]))[0]!.total;
};

/** Without `all`, a row that has got a seal meanwhile keeps it: who wrote it may have changed the row, too. */
export const writeLargeSeals = async (
  tx: Queryable,
  { table, key }: LargeTable,
  rows: readonly { readonly key: string; readonly seal: Buffer }[],
  all: boolean,
): Promise<void> => {
  await tx.query(
    {
      name: `large-seals-${table}`,
      text: `update ${table} t set row_seal = s.seal
        from unnest($1::text[], $2::bytea[]) as s(key, seal)
          cross join lateral jsonb_populate_record(null::${table}, s.key::jsonb) as o
        where ${key.map(name => `t.${name} = o.${name}`).join(' and ')} and t.row_seal is distinct from s.seal
          and ($3 or t.row_seal is null)`,
    },
    [rows.map(row => row.key), rows.map(row => row.seal), all],
  );
};
