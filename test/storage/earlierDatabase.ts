import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { silentLog } from '../../src/core/log.ts';
import { keepingSeals } from '../../src/engine/seals/sealKeeper.ts';
import { sealOlderRows } from '../../src/engine/seals/sealOlderRows.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { masterKeyOf } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

const folder = new URL('../../src/storage/migrations/', import.meta.url);

export type EarlierDatabase = {
  readonly db: Database;
  /** Migrates, and seals the rows as a start does. */
  upgrade(): Promise<void>;
};

/** A database as it was before the migration with this number. */
export const openEarlierDatabase = async (first: string): Promise<EarlierDatabase> => {
  const clone = await cloneDatabase();
  const db = openTestDatabase(clone.url);
  await db.script(`drop schema public cascade; create schema public; create table schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz(3) not null default now())`);
  const names = (await readdir(folder)).sort().filter(name => name < first);
  for (const name of names) {
    const sql = await readFile(new URL(name, folder), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    await db.script(sql);
    await db.script(
      `insert into schema_migrations values (${Number(name.slice(0, 4))}, '${name}', '${checksum}', default)`,
    );
  }
  return {
    db,
    async upgrade() {
      await migrate({ connectionString: clone.url }, { log: silentLog, finish: 'always' });
      const vault = createVault(masterKeyOf(Buffer.alloc(32, 1)));
      db.keepSeals(keepingSeals(vault, silentLog));
      await sealOlderRows({ db, vault, log: silentLog }, false);
    },
  };
};
