import pg from 'pg';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';

/** Works with the database of a data directory whose Florin runs, past Florin. */
export const withDatabase = async <T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ ...(await findSuperuser({ dataDir }))!, database: 'florin' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

export const countPayments = (dataDir: string): Promise<number> =>
  withDatabase(dataDir, async client => (await client.query('select count(*)::int from payments')).rows[0].count);

const pageRows = 100_000;

/** Every address that was ever handed out there. */
export const addressesIn = (dataDir: string): Promise<Set<string>> =>
  withDatabase(dataDir, async client => {
    const known = new Set<string>();
    for (let after = ''; ; ) {
      const text = 'select id, lower(address) from payments where id > $1 order by id limit $2';
      const { rows } = await client.query<[string, string]>({ text, values: [after, pageRows], rowMode: 'array' });
      for (const [, address] of rows) known.add(address);
      if (rows.length < pageRows) return known;
      after = rows.at(-1)![0];
    }
  });

/** Those of `made` that somebody was given before. */
export const repeatedIn = (known: ReadonlySet<string>, made: readonly { readonly address: string }[]): string[] => {
  const seen = new Set(known);
  const repeated: string[] = [];
  for (const { address } of made) {
    const lower = address.toLowerCase();
    if (seen.has(lower)) repeated.push(address);
    seen.add(lower);
  }
  return repeated;
};
