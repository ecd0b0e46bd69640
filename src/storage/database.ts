import pg from 'pg';
import { FlorinError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { ConnectionFault, type ConnectionSettings, createConnector } from './connect.ts';
import { pooledClient } from './pooledClient.ts';

/** Prepared once per connection under its name. The name is beside the text, so that both change together. */
export type Statement = { readonly name: string; readonly text: string };

export type Row = Record<string, unknown>;

/** Connections of a pool: in use, open without work, and how many statements wait for one. */
export type PoolUse = { readonly inUse: number; readonly idle: number; readonly waiting: number };

/** What a statement runs on: the pool, or one transaction's connection. */
export type Queryable = {
  query<R extends Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
};

/** Checks the seals that an answer carries, and seals what was written. */
export type KeepSeals = {
  /** Called before a statement is sent. Its result comes back with the answer. */
  begin(): number;
  keep<R extends Row>(
    tx: Queryable,
    rows: R[],
    asked: { readonly began: number; readonly isTransaction: boolean },
  ): Promise<R[]>;
  committed(tx: Queryable): void;
};

export type Database = Queryable & {
  /** Commits when `work` returns and rolls back when it throws. Serialization failures and deadlocks are retried. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Several statements without parameters, for migrations and maintenance. */
  script(sql: string): Promise<void>;
  /** Checks and makes the seals of rows from now on. Until then, statements with sealed rows fail. */
  keepSeals(keep: KeepSeals): void;
  poolUse(): PoolUse;
  close(): Promise<void>;
};

const connectionFaults = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES',
  'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN', 'EMFILE', 'ENFILE',
]); // biome-ignore format: one list

/** SQLSTATE classes of a database that cannot serve now: connection, resources (a full disk), operator, system. */
const unavailableClasses = new Set(['08', '53', '57', '58']);
/** The server became read-only, by a failover or by its administrator. */
const readOnlyState = '25006';
/** Also a refused connection: the database is closed, missing or not open to this role. */
const unavailableStates = new Set([readOnlyState, '55000', '3D000', '28000', '28P01']);

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** True for faults of the database or of the connection, not of the statement. */
export const isUnavailable = (error: unknown): boolean => {
  const code = codeOf(error);
  if (unavailableStates.has(code)) return true;
  if (code.length === 5 && unavailableClasses.has(code.slice(0, 2))) return true;
  return connectionFaults.has(code) || error instanceof ConnectionFault;
};

/** A connection ended or fell silent: what it was asked last may have been done. */
export class ConnectionLost extends ConnectionFault {}

/** SQLSTATEs of a unique index, and of an exclusion constraint used as one. */
const uniqueViolations: ReadonlySet<string> = new Set(['23505', '23P01']);

export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  uniqueViolations.has(codeOf(error)) && (error as { constraint?: string }).constraint === constraint;

/** The statement took longer than its connection allows. */
export const isOutOfTime = (error: unknown): boolean => codeOf(error) === '57014';

/** Another transaction was in the way: a retry may succeed. */
export const isContention = (error: unknown): boolean => codeOf(error) === '40001' || codeOf(error) === '40P01';

/** The database refused the data itself (cardinality, data, integrity): a retry would fail again. */
export const isRowFault = (error: unknown): boolean => /^2[0-3]...$/.test(codeOf(error));

const savepointStatements = {
  set: { name: 'savepoint-set', text: 'savepoint part' },
  release: { name: 'savepoint-release', text: 'release savepoint part' },
  undo: { name: 'savepoint-undo', text: 'rollback to savepoint part' },
};

/** Runs part of a transaction. If the database refuses a row, only this part is undone; the fault is returned. */
export const untilRefused = async (tx: Queryable, part: () => Promise<void>): Promise<unknown | null> => {
  await tx.query(savepointStatements.set);
  try {
    await part();
    await tx.query(savepointStatements.release);
    return null;
  } catch (error) {
    if (!isRowFault(error)) throw error;
    await tx.query(savepointStatements.undo);
    return error;
  }
};

/**
 * pg throws plain Errors without a code when a connection ends during a query, none is free in time, or an answer is
 * overdue. A TypeError and the like are faults of our own.
 */
const classify = (error: unknown): unknown => {
  if (error instanceof FlorinError) return error;
  if (error instanceof Error && error.constructor === Error && codeOf(error) === '') {
    return new ConnectionLost(error.message, { cause: error });
  }
  return error;
};

/** Classifies only what pg itself throws: a fault in the work of a transaction says nothing about the database. */
const classified = async <T>(asked: Promise<T>): Promise<T> => {
  try {
    return await asked;
  } catch (error) {
    throw classify(error);
  }
};

const ask = async <R extends Row>(
  on: pg.ClientBase | pg.Pool,
  { name, text }: Statement,
  values: readonly unknown[] = [],
): Promise<R[]> => (await classified(on.query({ name, text, values: values as unknown[] }))).rows;

/** Columns of answers with sealed rows. */
const sealColumns = ['seals', 'required', 'unsealed', 'vouched'];
const keepNoSeals: KeepSeals = {
  begin: () => 0,
  async keep(_, rows) {
    if (sealColumns.some(name => name in (rows[0] ?? {}))) {
      throw new Error('sealed rows were asked for before the vault was opened');
    }
    return rows;
  },
  committed() {},
};

const onClient = (client: pg.ClientBase, keepSeals: KeepSeals): { tx: Queryable; end: () => void } => {
  let isOver = false;
  const tx: Queryable = {
    async query<R extends Row>(statement: Statement, values?: readonly unknown[]) {
      // It would be committed by itself, on a connection that others may use by now.
      if (isOver) throw new Error(`${statement.name} was sent after its transaction had ended`);
      const began = keepSeals.begin();
      return keepSeals.keep(tx, await ask<R>(client, statement, values), { began, isTransaction: true });
    },
  };
  return {
    tx,
    end() {
      isOver = true;
    },
  };
};

/** Time for the server to report its own statement timeout before the connection is dropped. */
const graceMs = 1_000;
/** Our transactions never pause for this long; one that does belongs to a process that is gone. */
const idleTransactionMs = 30_000;
const transactionAttempts = 5;
/** With several hosts, how long a connection stays with the one that it was made to. */
const severalHostsLifetimeSeconds = 60;
/** Migrations and maintenance may take up to an hour. */
const scriptTimeoutMs = 3_600_000;

const timestamptz = 1184;
const readTime = pg.types.getTypeParser(timestamptz) as (text: string) => Date;

/** Parses the usual form, UTC with a four-digit year, with `Date`: it takes a third of the library's time. */
const readUtcTime = (text: string): Date => {
  const isUsual = text.endsWith('+00') && text.charCodeAt(4) === 45;
  return isUsual ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : readTime(text);
};

const columnTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz && format !== 'binary' ? readUtcTime : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;

export type DatabaseOptions = {
  readonly log: Log;
  readonly maxConnections?: number;
  readonly applicationName?: string;
  readonly queryTimeoutMs?: number;
  /** `any`: a replica will do, which cannot be written to. */
  readonly needs?: 'writable' | 'any';
};

export const openDatabase = (connection: ConnectionSettings, options: DatabaseOptions): Database => {
  const { log, needs = 'writable', queryTimeoutMs = 10_000 } = options;
  const connector = createConnector(connection, { needs, log });
  const client = pooledClient(connector, {
    // No request may wait for ever on a server that stopped answering; the connection is given up with the query.
    query_timeout: queryTimeoutMs + graceMs,
    keepAlive: true,
    application_name: options.applicationName ?? 'florin',
    types: columnTypes,
  });
  const pool = new pg.Pool({
    Client: client,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: connector.timeoutMs,
    idleTimeoutMillis: 30_000,
    // A former primary that still answers reads is left, too.
    ...(connector.isOnly ? {} : { maxLifetimeSeconds: severalHostsLifetimeSeconds }),
    // The server gives a statement up by itself: one that only its asker gave up would run on beside those that are
    // asked in its place, each slower than the one before. Plans are for disks that read any page as fast as the next; the
    // defaults are those of spinning disks and long reports. Not as parameters of the start, which poolers refuse.
    onConnect: async client => {
      await client.query(`set statement_timeout = ${queryTimeoutMs};
        set idle_in_transaction_session_timeout = ${idleTransactionMs};
        set random_page_cost = 1.1; set jit = off; set timezone = 'UTC'`);
    },
  });
  // The pool handles errors of idle connections only. An error between two statements of a transaction would end this
  // process without a listener; the next statement on the connection reports it.
  pool.on('connect', client => client.on('error', () => {}));
  pool.on('error', error => log.warn({ code: codeOf(error) }, 'an idle database connection ended'));

  let keepSeals = keepNoSeals;
  const query = async <R extends Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]> => {
    const began = keepSeals.begin();
    return keepSeals.keep({ query }, await ask<R>(pool, statement, values), { began, isTransaction: false });
  };

  const attempt = async <T>(work: (tx: Queryable) => Promise<T>): Promise<T> => {
    const client = await classified(pool.connect());
    let broken: Error | undefined;
    const { tx, end } = onClient(client, keepSeals);
    try {
      await classified(client.query('begin'));
      const result = await work(tx).finally(end);
      const { command } = await classified(client.query('commit'));
      // Of a transaction in which a statement failed, and whose work went on all the same.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
      keepSeals.committed(tx);
      return result;
    } catch (error) {
      // A rollback on a lost or overdue connection would hang too; closing the connection rolls back.
      // One that became read-only would refuse the next transaction, too.
      if (error instanceof ConnectionLost) broken = error;
      else if (codeOf(error) === readOnlyState) broken = error as Error;
      else {
        await client.query('rollback').catch(rollbackError => {
          broken = rollbackError;
        });
      }
      throw error;
    } finally {
      client.release(broken);
    }
  };

  return {
    query,
    async transaction(work) {
      for (let tried = 1; ; tried++) {
        try {
          return await attempt(work);
        } catch (error) {
          if (tried < transactionAttempts && isContention(error)) continue;
          throw error;
        }
      }
    },
    async script(sql) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query(`set statement_timeout = ${scriptTimeoutMs}`);
        const text = { text: sql, query_timeout: scriptTimeoutMs + graceMs };
        await client.query(text as pg.QueryConfig);
      } finally {
        await client.query(`set statement_timeout = ${queryTimeoutMs}`).catch(error => {
          broken = error;
        });
        client.release(broken);
      }
    },
    keepSeals(keep) {
      keepSeals = keep;
    },
    poolUse: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  };
};
