import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { releaseBefore } from './releaseBefore.ts';

const folder = new URL('./migrations/', import.meta.url);

/**
 * `expand`: the release before lives with it, so it is applied while processes of that release run. `contract`: it does not,
 * so it is applied when none is left. `base`: of the release before or an earlier one.
 */
export type Phase = 'base' | 'expand' | 'contract';
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  readonly phase: Phase;
  /** The index that the migration builds beside running requests, outside of a transaction; null for all others. */
  readonly index: string | null;
};

/** What a version of Florin knows of the schema: all migrations in order, and the newest one of the release before. */
export type Release = { readonly migrations: readonly Migration[]; readonly before: number };

export class MigrationError extends Error {}

const phaseOf = (name: string, sql: string): Phase => {
  const [, phase] = /^-- (expand|contract)\n/.exec(sql) ?? [];
  if (phase === undefined)
    throw new MigrationError(`migration ${name} must begin with the line -- expand or -- contract`);
  return phase as Phase;
};

export const migrationOf = (name: string, sql: string, before: number): Migration => {
  const version = Number(name.slice(0, 4));
  const checksum = createHash('sha256').update(sql).digest('hex');
  const [, index = null] = /^create index concurrently (\w+) on /m.exec(sql) ?? [];
  return { version, name, sql, checksum, index, phase: version > before ? phaseOf(name, sql) : 'base' };
};

/** This version of Florin. */
export const loadRelease = async (): Promise<Release> => {
  const before = releaseBefore.newestMigration;
  const names = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name, index) => {
      if (Number(name.slice(0, 4)) !== index + 1)
        throw new MigrationError(`migration ${name} is out of order: number migrations without gaps`);
      return migrationOf(name, await readFile(new URL(name, folder), 'utf8'), before);
    }),
  );
  return { migrations, before };
};
