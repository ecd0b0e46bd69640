import type { Database } from '../../src/storage/database.ts';

const tables = {
  name: 'test-tables',
  text: `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by tablename`,
};

/** Every row of every table as text; bytes appear as hex. */
export const dumpDatabase = async (db: Database, only?: string): Promise<string> => {
  const names = only ? [only] : (await db.query<{ name: string }>(tables)).map(row => row.name);
  const dumps: string[] = [];
  for (const name of names) {
    const rows = await db.query<{ line: string }>({
      name: `test-dump-${name}`,
      text: `select t::text as line from ${name} t`,
    });
    dumps.push(`${name}\n${rows.map(row => row.line).join('\n')}`);
  }
  return dumps.join('\n');
};

export const hexOf = (text: string | Uint8Array): string => Buffer.from(text as string).toString('hex');
