import type { Database, Row } from '../../src/storage/database.ts';

const tablesStatement = {
  name: 'test-all-tables',
  text: `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
};
/** Samples that the planner keeps of each column. */
const samples = `(select tablename, attname, most_common_vals::text, histogram_bounds::text from pg_stats)`;

/** The tables of which some row has the text in some column: as text, in JSON, or as bytes. */
export const tablesWithText = async (db: Database, text: string): Promise<string[]> => {
  const names = (await db.query<Row & { name: string }>(tablesStatement)).map(({ name }) => name);
  const found: string[] = [];
  for (const name of [...names, samples]) {
    // Bytes are printed as hexadecimal digits.
    const statement = {
      name: '',
      text: `select count(*)::int as rows from ${name} t where position($1 in t::text) > 0 or position($2 in t::text) > 0`,
    };
    const [row] = await db.query<Row & { rows: number }>(statement, [text, Buffer.from(text).toString('hex')]);
    if (row!.rows > 0) found.push(`${name === samples ? 'pg_stats' : name}: ${row!.rows}`);
  }
  return found;
};
