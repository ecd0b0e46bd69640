import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { PostgresConnection } from '../../src/local/postgres/startPostgres.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { atEndOfFile } from './endOfFile.ts';

/** The name of the migrated database that each test file copies. */
export const templateOf = (prefix: string): string => `${prefix}_template`;

/** A connection as a URL; a unix socket's directory goes into the host, percent-encoded. */
export const databaseUrl = (c: PostgresConnection): string =>
  `postgres://${c.user}:${encodeURIComponent(c.password)}@${encodeURIComponent(c.host)}:${c.port}/${c.database}`;

export const withDatabase = (url: string, name: string): string => url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);

/**
 * A database of its own for a test file. On a server that is not ours it is dropped at the end of the file. On our own it
 * goes with the server: dropping databases one by one took a quarter of the time of tests that use one.
 */
export const cloneDatabase = async (): Promise<{ url: string; drop(): Promise<void> }> => {
  const adminUrl = inject('adminUrl');
  const prefix = inject('databasePrefix');
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  const run = async (sql: string): Promise<void> => {
    const admin = openDatabase({ connectionString: adminUrl }, { log: silentLog, maxConnections: 1 });
    try {
      await admin.script(sql);
    } finally {
      await admin.close();
    }
  };
  const drop = (): Promise<void> => run(`drop database if exists ${name} with (force)`);
  if (!inject('isOwnServer')) atEndOfFile(drop);
  // Copying files takes a third of the time of the default, which also writes every page to the WAL.
  await run(`create database ${name} template ${templateOf(prefix)} strategy file_copy`);
  return { url: withDatabase(adminUrl, name), drop };
};

/** Closed at the end of the test file at the latest. */
export const openTestDatabase = (url: string): Database => {
  const db = openDatabase({ connectionString: url }, { log: silentLog, maxConnections: 4 });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= db.close();
    return closed;
  };
  atEndOfFile(close);
  return { ...db, close };
};
