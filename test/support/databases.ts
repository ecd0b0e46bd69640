import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { PostgresConnection } from '../../src/local/postgres/startPostgres.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';

export const templateName = 'florin_test_template';

/** A connection as a URL; a unix socket's directory goes into the host, percent-encoded. */
export const databaseUrl = (c: PostgresConnection): string =>
  `postgres://${c.user}:${encodeURIComponent(c.password)}@${encodeURIComponent(c.host)}:${c.port}/${c.database}`;

export const withDatabase = (url: string, name: string): string => url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);

/** A database of its own for a test file, dropped at the end. */
export const cloneDatabase = async (): Promise<{ url: string; drop(): Promise<void> }> => {
  const adminUrl = inject('adminUrl');
  const name = `florin_test_${randomBytes(8).toString('hex')}`;
  const run = async (sql: string): Promise<void> => {
    const admin = openDatabase({ connectionString: adminUrl }, { log: silentLog, maxConnections: 1 });
    try {
      await admin.script(sql);
    } finally {
      await admin.close();
    }
  };
  await run(`create database ${name} template ${templateName}`);
  return { url: withDatabase(adminUrl, name), drop: () => run(`drop database ${name} with (force)`) };
};

export const openTestDatabase = (url: string): Database =>
  openDatabase({ connectionString: url }, { log: silentLog, maxConnections: 4 });
