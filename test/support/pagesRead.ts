import pg from 'pg';
import type { Database, Queryable } from '../../src/storage/database.ts';

type Plan = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };
const explain = 'explain (analyze, buffers, format json)';

const pagesOf = (rows: readonly Explained[]): number => {
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
};

/**
 * How many pages the database looks at for the statements of `work`: their cost, whatever else the machine does. The
 * statements are run for that, and `work` is answered with their plans instead of rows.
 */
export const pagesRead = async (db: Database, work: (db: Queryable) => Promise<unknown>): Promise<number> => {
  let pages = 0;
  await work({
    query: async ({ text }, values) => {
      const plans = await db.query<Explained>({ name: '', text: `${explain} ${text}` }, values);
      pages += pagesOf(plans);
      return plans as never;
    },
  });
  return pages;
};

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`;
  return value === null ? 'null' : pg.escapeLiteral(String(value));
};

/** The same with the plan that the database makes once for all values, and may keep for a statement that has a name. */
export const genericPagesRead = async (db: Database, work: (db: Queryable) => Promise<unknown>): Promise<number> => {
  let pages = 0;
  await work({
    query: ({ text }, values = []) =>
      db.transaction(async tx => {
        await tx.query({ name: '', text: 'set local plan_cache_mode = force_generic_plan' });
        await tx.query({ name: '', text: `prepare measured as ${text}` });
        const run = `execute measured${values.length === 0 ? '' : `(${values.map(literal).join(', ')})`}`;
        const plans = await tx.query<Explained>({ name: '', text: `${explain} ${run}` });
        await tx.query({ name: '', text: 'deallocate measured' });
        pages += pagesOf(plans);
        return plans as never;
      }),
  });
  return pages;
};
