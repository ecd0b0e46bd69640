import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { hasCode } from '../core/errorCode.ts';
import type { Log } from '../core/log.ts';
import { type Progress, silentProgress } from '../core/progress.ts';
import { type AppliedMigrations, assertKnown, readExpanded, readFinished } from './appliedMigrations.ts';
import { type ConnectionSettings, createConnector } from './connect.ts';
import { grantTo, protectMigrations } from './grants.ts';
import { listOlderProcesses, namesOf } from './olderProcesses.ts';
import { loadRelease, type Migration, MigrationError, type Release } from './release.ts';

/** Any constant will do as long as no other application in the same database uses it. */
const lockKey = 7_260_114_301;

/** Requests queue behind a migration that waits for a lock, so it gives up soon and tries again. */
const lockTimeoutMs = 2_000;
const lockTries = 60;
const betweenTriesMs = 1_000;
const [lockNotAvailable, deadlockDetected] = ['55P03', '40P01'];
const betweenLooksMs = 100;

/** Asks again and again: a statement that waits for the lock would hold up an index that is built beside it. */
const lock = async (client: pg.Client): Promise<void> => {
  const ask = 'select pg_try_advisory_lock($1) as "isMine"';
  while (!(await client.query<{ isMine: boolean }>(ask, [lockKey])).rows[0]!.isMine) await pause(betweenLooksMs);
};

type Table = 'schema_migrations' | 'schema_expansions';

const tableOf = (table: Table): string => `create table if not exists ${table} (
  version integer primary key, name text not null, checksum text not null, applied_at timestamptz(3) not null default now())`;

const record = async (client: pg.Client, table: Table, { version, name, checksum }: Migration): Promise<void> => {
  await client.query(`insert into ${table} (version, name, checksum) values ($1, $2, $3)`, [version, name, checksum]);
};

/** `finish`: from now on, every process must know the migration. It may have been applied before. */
const applyOnce = async (
  client: pg.Client,
  migration: Migration,
  isApplied: boolean,
  finish: boolean,
): Promise<void> => {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    if (!isApplied) await client.query(migration.sql);
    if (finish) await client.query('delete from schema_expansions where version = $1', [migration.version]);
    await record(client, finish ? 'schema_migrations' : 'schema_expansions', migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
};

/** An index that a run before this one left unfinished is of no use. */
const buildIndex = async (client: pg.Client, { sql, index }: Migration): Promise<void> => {
  await client.query(`drop index concurrently if exists ${pg.escapeIdentifier(index!)}`);
  await client.query(sql);
};

const apply = async (client: pg.Client, migration: Migration, isApplied: boolean, finish: boolean): Promise<void> => {
  const isBuilt = !isApplied && migration.index !== null;
  if (isBuilt) await buildIndex(client, migration);
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(client, migration, isApplied || isBuilt, finish);
    } catch (error) {
      if (!hasCode(error, lockNotAvailable, deadlockDetected)) throw error;
      if (tries < lockTries) await pause(betweenTriesMs);
      else
        throw new MigrationError(`migration ${migration.name} waits for long queries: try again when they have ended`);
    }
  }
};

export type MigrateOptions = {
  readonly log: Log;
  readonly serviceRole?: string;
  readonly progress?: Progress;
  /** The process that migrates, which has no older one of the same name beside it. */
  readonly holder?: string;
  /**
   * `always` throws if a process of the release before runs. `if alone` then leaves the upgrade unfinished. Without it, an
   * upgrade stays unfinished, unless the database is new.
   */
  readonly finish?: 'always' | 'if alone';
  /** Default: this version of Florin. */
  readonly release?: Release;
};

export type Migrated = {
  readonly applied: number;
  /** The newest migration that this version knows. */
  readonly version: number;
  /** The newest one that every process must know. */
  readonly finished: number;
};

const refuseOlder = async (client: pg.Client, version: number, holder: string | undefined): Promise<void> => {
  const older = await listOlderProcesses(client, version, holder);
  if (older.length === 0) return;
  throw new MigrationError(
    `processes of an earlier version run on this database: ${namesOf(older)}. Stop them first. One that was killed counts for half a minute`,
  );
};

/** The newest migration up to which the database is to be finished. */
const finishUpTo = async (
  client: pg.Client,
  applied: AppliedMigrations,
  { migrations, before }: Release,
  { finish, holder }: MigrateOptions,
): Promise<number> => {
  const newest = migrations.length;
  const finished = applied.finished.length;
  if (finished === 0) return newest;
  if (finish === 'always' && finished < newest) await refuseOlder(client, newest, holder);
  if (finish === 'always') return newest;
  if (finish === 'if alone' && (await listOlderProcesses(client, newest, holder)).length === 0) return newest;
  // Only the release before may run beside this one.
  if (finished < before) await refuseOlder(client, before, holder);
  return Math.max(before, finished);
};

type Step = { readonly migration: Migration; readonly isApplied: boolean; readonly finish: boolean };

/** What is to be done, in order. */
const stepsTo = (upTo: number, { finished, expanded }: AppliedMigrations, { migrations }: Release): Step[] => {
  const done = new Set(finished.map(({ version }) => version));
  const applied = new Set(expanded.map(({ version }) => version));
  return migrations.flatMap(migration => {
    const { version, phase } = migration;
    const [isApplied, finish] = [applied.has(version), version <= upTo];
    if (done.has(version) || (!finish && (isApplied || phase === 'contract'))) return [];
    return [{ migration, isApplied, finish }];
  });
};

/**
 * Brings the database up to date under a lock; safe to call from every process at the same time. What the release before
 * cannot live with is applied only when the upgrade is finished.
 */
export const migrate = async (connection: ConnectionSettings, options: MigrateOptions): Promise<Migrated> => {
  const { log, progress = silentProgress, release = await loadRelease() } = options;
  const client = await createConnector(connection, { log }).connect({ application_name: 'florin migrate' });
  try {
    await lock(client);
    await client.query(`${tableOf('schema_migrations')}; ${tableOf('schema_expansions')}`);
    const state: AppliedMigrations = {
      finished: (await client.query(readFinished)).rows,
      expanded: (await client.query(readExpanded)).rows,
    };
    assertKnown(state, release);
    const upTo = await finishUpTo(client, state, release, options);
    const steps = stepsTo(upTo, state, release);
    const pending = steps.filter(({ isApplied }) => !isApplied);
    for (const { migration, isApplied, finish } of steps) {
      const { name } = migration;
      if (!isApplied) {
        progress({
          message: 'applying migrations',
          done: pending.findIndex(step => step.migration === migration),
          of: pending.length,
          name,
        });
      }
      await apply(client, migration, isApplied, finish);
    }
    const version = release.migrations.length;
    if (pending.length > 0) log.info({ applied: pending.length, version }, 'migrations were applied');
    if (upTo < version)
      log.info({ finished: upTo, version }, 'the upgrade is not finished: run florin migrate --finish');
    // Those of a newer release have made the grants that it needs.
    const isNewest = state.expanded.every(row => row.version <= version);
    if (options.serviceRole && isNewest) await grantTo(client, options.serviceRole);
    if (options.serviceRole) await protectMigrations(client, options.serviceRole);
    return { applied: pending.length, version, finished: upTo };
  } finally {
    await client.end();
  }
};
