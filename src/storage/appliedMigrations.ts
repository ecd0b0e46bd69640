import type { Queryable, Row } from './database.ts';
import { loadRelease, type Migration, MigrationError, type Release } from './release.ts';

export type Applied = { readonly version: number; readonly name: string; readonly checksum: string };

/**
 * `finished`: migrations that every process must know. `expanded`: those of a release whose upgrade is not finished, with
 * which the release before lives. They are in a table that the release before does not read.
 */
export type AppliedMigrations = { readonly finished: readonly Applied[]; readonly expanded: readonly Applied[] };

export const readFinished = `select version, name, checksum from schema_migrations order by version`;
export const readExpanded = `select version, name, checksum from schema_expansions order by version`;

/** The newest migration that every process must know. */
export const finishedVersion = `(select coalesce(max(version), 0) from schema_migrations)`;

const assertSame = (row: Applied, mine: Migration): void => {
  if (mine.checksum === row.checksum) return;
  throw new MigrationError(
    `migration ${row.name} differs from the one this database was built with: restore the original file`,
  );
};

/** Throws if this version must not use the database. */
export const assertKnown = ({ finished, expanded }: AppliedMigrations, { migrations }: Release): void => {
  for (const row of finished) {
    const mine = migrations[row.version - 1];
    if (!mine) {
      throw new MigrationError(
        `the upgrade of this database to a newer Florin is finished (migration ${row.name}): run that version or restore an older backup`,
      );
    }
    assertSame(row, mine);
  }
  for (const row of expanded) {
    const mine = migrations[row.version - 1];
    if (mine) assertSame(row, mine);
    else if (finished.length < migrations.length) {
      throw new MigrationError(
        `the database was migrated by a Florin that is newer than the next release (migration ${row.name}): run that version or restore an older backup`,
      );
    }
  }
};

const countStatement = { name: 'migrations-finished', text: readFinished };
const expandedStatement = { name: 'migrations-expanded', text: readExpanded };
const hasExpandedStatement = {
  name: 'migrations-has-expanded',
  text: `select to_regclass('schema_expansions') is not null as "hasTable"`,
};

export type MigrationState = {
  /** Migrations that the next start applies. */
  readonly pending: number;
  /** Migrations that wait for the end of the upgrade, or count as applied only then. */
  readonly unfinished: number;
};

/** How far the database is. Throws when it must not be used by this version. */
export const readMigrationState = async (db: Queryable): Promise<MigrationState> => {
  const release = await loadRelease();
  const [table] = await db.query<Row & { hasTable: boolean }>(hasExpandedStatement);
  const finished = await db.query<Row & Applied>(countStatement);
  const expanded = table!.hasTable ? await db.query<Row & Applied>(expandedStatement) : [];
  assertKnown({ finished, expanded }, release);
  const applied = new Set([...finished, ...expanded].map(({ version }) => version));
  const missing = release.migrations.filter(({ version }) => !applied.has(version));
  return {
    pending: missing.filter(({ phase }) => phase !== 'contract').length,
    unfinished: release.migrations.filter(({ version }) => version > finished.length).length,
  };
};

const finishedStatement = { name: 'migrations-finished-version', text: `select ${finishedVersion} as version` };
/** The newest migration that every process must know. */
export const readFinishedVersion = async (db: Queryable): Promise<number> =>
  (await db.query<Row & { version: number }>(finishedStatement))[0]!.version;
