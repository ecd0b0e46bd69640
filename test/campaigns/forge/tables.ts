import type pg from 'pg';

export type Column = {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** All values that it can have, if these are a few words. */
  readonly words: readonly string[];
};
export type Table = { readonly name: string; readonly key: readonly string[]; readonly columns: readonly Column[] };
/**
 * A row as JSON text, as PostgreSQL prints it: amounts do not fit into JavaScript's numbers, and the bytes of JSON in a
 * column matter.
 */
export type RowText = string;

/** Bookkeeping of migrations: the service's role cannot write it, and a start compares it with the files. */
export const leftOut = new Set(['schema_migrations', 'schema_expansions']);

/** Every table with every column that there is, so that what is added later is tried too. Large ones come first. */
export const readTables = async (client: pg.Client): Promise<Table[]> => {
  const { rows } = await client.query(`
    select c.relname as name,
      (select array_agg(a.attname::text order by array_position(i.indkey::int2[], a.attnum))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary) as key,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'nullable', not a.attnotnull, 'words', coalesce(
            (select json_agg(e.enumlabel) from pg_enum e where e.enumtypid = a.atttypid),
            (select json_agg(word[1]) from pg_constraint k
              cross join regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''::text', 'g') word
              where k.contype = 'c' and pg_get_constraintdef(k.oid) ~ '= ANY \\(ARRAY'
                and (k.contypid = a.atttypid or k.conrelid = a.attrelid and k.conkey = array[a.attnum])),
            '[]')) order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relnatts desc, c.relname`);
  return (rows as Table[]).filter(({ name }) => !leftOut.has(name));
};

/** Rows that contain one of `words` come first, in the order of these, and then the newest. */
export const readRows = async (
  client: pg.Client,
  { name, key }: Table,
  limit: number,
  words: readonly string[] = [],
): Promise<RowText[]> => {
  const order = key.map(column => `t.${column} desc`).join(', ');
  const { rows } = await client.query(
    `select row_to_json(t)::text as row from ${name} t cross join lateral (
        select coalesce(min(w.at), 0) as at from unnest($2::text[]) with ordinality as w(word, at)
        where position(w.word in to_jsonb(t)::text) > 0) first
      order by nullif(first.at, 0) nulls last, ${order} limit $1`,
    [limit, words],
  );
  return rows.map(({ row }) => row as string);
};

const matches = ({ name, key }: Table): string => {
  const columns = key.join(', ');
  return `(${columns}) = (select ${columns} from jsonb_populate_record(null::${name}, $1::text::jsonb))`;
};

export const readAgain = async (client: pg.Client, table: Table, row: RowText): Promise<RowText | null> => {
  const { rows } = await client.query(
    `select row_to_json(t)::text as row from ${table.name} t where ${matches(table)}`,
    [row],
  );
  return (rows[0]?.row as string | undefined) ?? null;
};

export const insertRow = async (client: pg.Client, { name }: Table, row: RowText): Promise<void> => {
  await client.query(
    `insert into ${name} overriding system value select * from json_populate_record(null::${name}, $1::text::json)`,
    [row],
  );
};

/** Whether the row was still there. */
export const deleteRow = async (client: pg.Client, table: Table, row: RowText): Promise<boolean> => {
  const { rowCount } = await client.query(`delete from ${table.name} where ${matches(table)}`, [row]);
  return rowCount! > 0;
};

/** Puts a row in the place of the one that has its key. */
export const putRow = async (client: pg.Client, table: Table, row: RowText): Promise<void> => {
  await deleteRow(client, table, row);
  await insertRow(client, table, row);
};

export const updateRow = async (client: pg.Client, table: Table, row: RowText, column: string): Promise<void> => {
  await client.query(
    `update ${table.name} set ${column} = n.${column}
      from jsonb_populate_record(null::${table.name}, $1::text::jsonb) n
      where ${table.key.map(name => `${table.name}.${name} = n.${name}`).join(' and ')}`,
    [row],
  );
};

/** The row with another value in one column, given as JSON text. */
export const withValue = async (client: pg.Client, row: RowText, column: string, value: string): Promise<RowText> => {
  const { rows } = await client.query(
    `select jsonb_set($1::text::jsonb, array[$2::text], $3::text::jsonb)::text as row`,
    [row, column, value],
  );
  return rows[0].row as string;
};

/** The value of a column as JSON text. */
export const valueIn = async (client: pg.Client, row: RowText, column: string): Promise<string> => {
  const { rows } = await client.query(`select ($1::text::jsonb -> $2::text)::text as value`, [row, column]);
  return (rows[0]?.value as string | null) ?? 'null';
};

/**
 * Commits what `work` does, or nothing of it. Nobody else writes to the table meanwhile: a row must not change between its
 * reading and its change.
 */
export const whileLocked = async <T>(client: pg.Client, table: string, work: () => Promise<T>): Promise<T> => {
  await client.query('begin');
  try {
    await client.query(`lock table ${table} in share row exclusive mode`);
    const value = await work();
    await client.query('commit');
    return value;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
};
