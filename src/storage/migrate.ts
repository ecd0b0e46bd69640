import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import { type Progress, silentProgress } from '../core/progress.ts';
import type { ConnectionSettings, Queryable } from './database.ts';

const folder = new URL('./migrations/', import.meta.url);

/** Any constant will do as long as no other application in the same database uses it. */
const lockKey = 7_260_114_301;

type Migration = { version: number; name: string; sql: string; checksum: string };

export class MigrationError extends Error {}

const loadMigrations = async (): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(name.slice(0, 4));
      if (version !== index + 1)
        throw new MigrationError(`migration ${name} is out of order: number migrations without gaps`);
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
};

const assertKnown = (applied: { version: number; name: string; checksum: string }[], known: Migration[]): void => {
  for (const row of applied) {
    const mine = known[row.version - 1];
    if (!mine) {
      throw new MigrationError(
        `the database was migrated by a newer Florin (migration ${row.name}): run that version or restore an older backup`,
      );
    }
    if (mine.checksum !== row.checksum) {
      throw new MigrationError(
        `migration ${row.name} differs from the one this database was built with: restore the original file`,
      );
    }
  }
};

const stateStatement = {
  name: 'migrations-read',
  text: `select version, name, checksum from schema_migrations order by version`,
};
/** How many migrations the database lacks. Throws when it has others than this version. */
export const countPendingMigrations = async (db: Queryable): Promise<number> => {
  const known = await loadMigrations();
  const applied = await db.query<{ version: number; name: string; checksum: string }>(stateStatement);
  assertKnown(applied, known);
  return known.length - applied.length;
};

/**
 * The service role may read and write rows: no DDL, no TRUNCATE. It may delete only from the listed tables, and history
 * is append-only. Everything else is revoked, because an earlier version may have granted more.
 */
const grantTo = async (client: pg.Client, role: string): Promise<void> => {
  const name = pg.escapeIdentifier(role);
  await client.query(`
    grant usage on schema public to ${name};
    grant select, insert, update on all tables in schema public to ${name};
    revoke delete on all tables in schema public from ${name};
    grant delete on blocks, deliveries, idempotency_keys, payment_deltas, passkeys, passkey_challenges,
      sessions, ended_sessions, access_links, sign_in_failures, guess_budgets, volume_deltas, holding_deltas,
      ledger_deltas, suspected_differences, outbox to ${name};
    revoke update on accounts, wallets, wallet_stops, wallet_verifications, wallet_effects, wallet_approvals,
      treasury_confirmations, restore_reviews, events, delivery_attempts, payment_deltas, audit_log, transfer_decisions from ${name};
    grant update (name, row_seal) on accounts to ${name};
    grant update (reviewed_at, reviewed_by, row_seal) on restore_reviews to ${name};
    grant update (row_seal) on wallet_stops, wallet_approvals, treasury_confirmations, events to ${name};
    grant update (mac, seal, row_seal) on wallets to ${name};
    grant update (hash, previous_hash) on audit_log to ${name};
    grant update (response) on delivery_attempts to ${name};
    revoke update on volume_deltas, holding_deltas, ledger_deltas, ledger_corrections, suspected_differences, sweeps,
      sweep_payments, derivation_epochs, lost_addresses, unclaimed_funds, chain_branches from ${name};
    grant update (row_seal) on ledger_corrections, derivation_epochs, lost_addresses, chain_branches to ${name};
    grant usage on all sequences in schema public to ${name};
    revoke insert, update, delete on schema_migrations from ${name};`);
};

/** Brings the database up to date under a lock; safe to call from every process at the same time. */
export const migrate = async (
  connection: ConnectionSettings,
  options: { log: Log; serviceRole?: string; progress?: Progress },
): Promise<{ applied: number; version: number }> => {
  const { log, progress = silentProgress } = options;
  const known = await loadMigrations();
  const client = new pg.Client({ ...connection, application_name: 'florin migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query(`create table if not exists schema_migrations (
      version integer primary key, name text not null, checksum text not null, applied_at timestamptz(3) not null default now())`);
    const { rows } = await client.query('select version, name, checksum from schema_migrations order by version');
    assertKnown(rows, known);
    const pending = known.slice(rows.length);
    for (const [place, migration] of pending.entries()) {
      const { name } = migration;
      progress({ message: 'applying migrations', done: place, of: pending.length, name });
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
        migration.version,
        migration.name,
        migration.checksum,
      ]);
      await client.query('commit');
    }
    if (pending.length > 0) log.info({ applied: pending.length, version: known.length }, 'migrations were applied');
    if (options.serviceRole) await grantTo(client, options.serviceRole);
    return { applied: pending.length, version: known.length };
  } finally {
    await client.end();
  }
};
