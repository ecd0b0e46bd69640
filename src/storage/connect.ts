import pg from 'pg';
import type { Log } from '../core/log.ts';
import { nameOfHost, urlsOfHosts } from './hosts.ts';

export type ConnectionSettings =
  | { connectionString: string }
  | { host: string; port: number; database: string; user: string; password: string };

/** The database cannot be reached, or a connection to it was lost. */
export class ConnectionFault extends Error {}

/** The server is a replica, or refuses writes. */
export class ReadOnlyServer extends ConnectionFault {}

/** None of several hosts can be used. `failures` says why, by the names of the hosts. */
export class NoUsableHost extends ConnectionFault {
  readonly failures: readonly string[];

  constructor(failures: readonly string[], options: ErrorOptions) {
    super(`no host of the database can be used: ${failures.join('; ')}`, options);
    this.failures = failures;
  }
}

export type Connector = {
  /** How long `connect` takes at most, apart from a server that accepts and then stalls. */
  readonly timeoutMs: number;
  /** Whether there is one host and no other to turn to. */
  readonly isOnly: boolean;
  /** Tries the hosts in order, starting with the one that worked last. Errors of idle connections need a listener. */
  connect(options?: pg.ClientConfig): Promise<pg.Client>;
};

/** With another host to turn to, a silent one is given up sooner: all of them fit into the time of a request. */
const [onlyHostMs, eachHostMs] = [5_000, 2_500];

const readOnlyQuery = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isReadOnly"`;

/** Why a host was left, in a word: a code where there is one. */
const reasonOf = (error: unknown): string => {
  if (error instanceof ReadOnlyServer) return 'read-only';
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'no usable answer';
};

const connectTo = async (host: pg.ClientConfig, timeoutMs: number, needs: 'writable' | 'any'): Promise<pg.Client> => {
  const client = new pg.Client({ ...host, connectionTimeoutMillis: timeoutMs });
  // An error without a listener would end this process.
  client.on('error', () => {});
  try {
    await client.connect();
    if (needs === 'any') return client;
    const query = { text: readOnlyQuery, query_timeout: timeoutMs };
    const { rows } = await client.query<{ isReadOnly: boolean }>(query);
    if (!rows[0]!.isReadOnly) return client;
    throw new ReadOnlyServer('the server is a replica or read-only');
  } catch (error) {
    // Not awaited: the server may not answer.
    client.end().catch(() => {});
    throw error;
  }
};

/** Connects to the one writable host of a URL, or with `any` to the first that answers. */
export const createConnector = (
  connection: ConnectionSettings,
  { needs = 'writable', log }: { readonly needs?: 'writable' | 'any'; readonly log?: Log } = {},
): Connector => {
  const hosts =
    'connectionString' in connection
      ? urlsOfHosts(connection.connectionString).map(url => ({
          name: nameOfHost(url),
          config: { connectionString: url },
        }))
      : [{ name: connection.host, config: connection }];
  const isOnly = hosts.length === 1;
  const timeoutMs = isOnly ? onlyHostMs : eachHostMs;
  // Whoever waits for all of several hosts must see why each of them was left.
  const marginMs = isOnly ? 0 : 500;
  let first = 0;
  return {
    timeoutMs: timeoutMs * hosts.length + marginMs,
    isOnly,
    async connect(options = {}) {
      const from = first;
      const failures: string[] = [];
      let cause: unknown;
      for (let tried = 0; tried < hosts.length; tried++) {
        const at = (from + tried) % hosts.length;
        const { name, config } = hosts[at]!;
        try {
          const client = await connectTo({ ...options, ...config }, timeoutMs, needs);
          if (first !== at) log?.warn({ host: name, failures }, 'another host of the database is used now');
          first = at;
          return client;
        } catch (error) {
          cause = error;
          failures.push(`${name}: ${reasonOf(error)}`);
        }
      }
      // The fault of the only host says by its code what is wrong.
      throw isOnly ? cause : new NoUsableHost(failures, { cause });
    },
  };
};
