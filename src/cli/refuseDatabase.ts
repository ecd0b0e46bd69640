import { codeOf } from '../core/errorCode.ts';
import { checkServer } from '../storage/bootChecks.ts';
import { type ConnectionSettings, NoUsableHost, ReadOnlyServer } from '../storage/connect.ts';
import type { Database } from '../storage/database.ts';
import { isTransactionPooled } from '../storage/pooler.ts';
import { type Config, ConfigError } from './config.ts';

type Urls = NonNullable<Config['database']>;

/** Each URL once, under the name of its setting. */
const named = ({ url, migrateUrl }: Urls): [string, ConnectionSettings][] => {
  const service: [string, ConnectionSettings] = ['DATABASE_URL', { connectionString: url }];
  if (migrateUrl === url) return [service];
  return [['FLORIN_MIGRATE_DATABASE_URL', { connectionString: migrateUrl }], service];
};

const unusable = (name: string, error: unknown): string => {
  if (error instanceof ReadOnlyServer) return `The server of ${name} is a read-only replica. Name the primary.`;
  const isSeveral = error instanceof NoUsableHost;
  const why = isSeveral ? error.failures.join('; ') : codeOf(error) || 'no answer in time';
  return `Cannot use the database of ${name} (${why}). Check its address, name and password, and that it is running.`;
};

const pooled = (name: string): string =>
  `${name} leads to a pooler in transaction mode, which Florin cannot use: statements are prepared, and settings made, once for each connection. Set the pooler to session mode (pool_mode = session), or name the server itself.`;

const problemOf = async (name: string, connection: ConnectionSettings): Promise<string | null> => {
  try {
    return (await isTransactionPooled(connection)) ? pooled(name) : null;
  } catch (error) {
    return unusable(name, error);
  }
};

/** Checks the connections first, so that the error names the setting that is wrong. */
export const refuseUnreachable = async (database: Urls): Promise<void> => {
  for (const [name, connection] of named(database)) {
    const problem = await problemOf(name, connection);
    if (problem !== null) throw new ConfigError([problem]);
  }
};

export const refuseUnfit = async (db: Database): Promise<void> => {
  const problems = await checkServer(db);
  if (problems.length > 0) throw new ConfigError(problems);
};
