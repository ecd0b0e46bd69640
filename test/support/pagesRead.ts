import type { Database, Queryable } from '../../src/storage/database.ts';

type Plan = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };

/**
 * How many pages the database looks at for the statements of `work`: their cost, whatever else the machine does. The
 * statements are run for that, and `work` is answered with their plans instead of rows.
 */
export const pagesRead = async (db: Database, work: (db: Queryable) => Promise<unknown>): Promise<number> => {
  let pages = 0;
  await work({
    query: async ({ text }, values) => {
      const explain = { name: '', text: `explain (analyze, buffers, format json) ${text}` };
      const rows = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, values);
      const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return [];
    },
  });
  return pages;
};
