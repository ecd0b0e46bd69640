import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { probeConnection } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { findSuperuser, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { databaseUrl, templateName, withDatabase } from './databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A role that may create databases, as a URL. */
    adminUrl: string;
  }
}

/**
 * One server for the whole run: the embedded one, or the one named by TEST_DATABASE_URL (a role with CREATEDB). Each test
 * file clones its own database from a template that is migrated once.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const given = process.env.TEST_DATABASE_URL;
  const room = given ? null : await mkdtemp(join(tmpdir(), 'florin-test-'));
  const embedded = room ? await startPostgres({ dataDir: room, log: silentLog, probe: probeConnection }) : null;
  const adminUrl = given ?? databaseUrl((await findSuperuser({ dataDir: room! }))!);
  const admin = openDatabase({ connectionString: adminUrl }, { log: silentLog, maxConnections: 1 });
  await admin.script(`drop database if exists ${templateName} with (force)`);
  await admin.script(`create database ${templateName}`);
  await migrate({ connectionString: withDatabase(adminUrl, templateName) }, { log: silentLog });
  await admin.close();
  project.provide('adminUrl', adminUrl);
  return async () => {
    await embedded?.stop();
    if (room) await rm(room, { recursive: true, force: true });
  };
};
