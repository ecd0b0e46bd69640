import { chmod, mkdtemp, realpath, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { probeConnection } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { findSuperuser, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { databaseUrl, templateOf, withDatabase } from './databases.ts';
import { startGuardian } from './startGuardian.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A role that may create databases, as a URL. */
    adminUrl: string;
    /** What the names of this run's databases begin with. */
    databasePrefix: string;
    /** Whether the server was started for this run and ends with it. */
    isOwnServer: boolean;
    /** Whether this is `npm run test:all`, where long tests take as many rounds as they can. */
    isThorough: boolean;
  }
}

/** PostgreSQL must be able to enter it without root's rights. */
const makeRoom = async (parent: string): Promise<string> => {
  const room = await mkdtemp(join(await realpath(parent), roomPrefix));
  await chmod(room, 0o755);
  return room;
};

export const memoryDisk = '/dev/shm';
/** What the names of a run's temporary folders begin with. */
export const roomPrefix = 'florin-test-';
const roomyBytes = 10 * 2 ** 30;

/** Databases take 3 GB, and a twentieth less time in memory. */
const hasRoomInMemory = async (): Promise<boolean> => {
  const free = await statfs(memoryDisk)
    .then(({ bavail, bsize }) => bavail * bsize)
    .catch(() => 0);
  return Math.min(free, freemem()) > roomyBytes;
};

/**
 * One server for the whole run: the embedded one, or the one named by TEST_DATABASE_URL (a role with CREATEDB). Each test
 * file clones its own database from a template that is migrated once.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const room = await makeRoom(tmpdir());
  const databaseRoom = (await hasRoomInMemory()) ? await makeRoom(memoryDisk) : room;
  // Vitest leaves a folder of its own behind when it is interrupted.
  startGuardian([room, databaseRoom, project.tmpDir]);
  // Every other temporary file of the run lies here: workers and whatever they start inherit it.
  process.env.TMPDIR = room;
  const given = process.env.TEST_DATABASE_URL || null;
  const embedded = given
    ? null
    : await startPostgres({ dataDir: join(databaseRoom, 'database'), log: silentLog, probe: probeConnection });
  const adminUrl = given ?? databaseUrl((await findSuperuser({ dataDir: join(databaseRoom, 'database') }))!);
  const databasePrefix = `florin_test_${process.pid}`;
  const templateName = templateOf(databasePrefix);
  const onServer = async (sql: string): Promise<void> => {
    const admin = openDatabase({ connectionString: adminUrl }, { log: silentLog, maxConnections: 1 });
    await admin.script(sql).finally(() => admin.close());
  };
  if (embedded) {
    // Each of the hundreds of databases would be visited in every round, by a process of its own.
    await onServer(`alter system set autovacuum_naptime = '1h'`);
    await onServer('select pg_reload_conf()');
  }
  await onServer(`drop database if exists ${templateName} with (force)`);
  await onServer(`create database ${templateName}`);
  await migrate({ connectionString: withDatabase(adminUrl, templateName) }, { log: silentLog });
  project.provide('adminUrl', adminUrl);
  project.provide('databasePrefix', databasePrefix);
  project.provide('isOwnServer', embedded !== null);
  return async () => {
    await onServer(`drop database if exists ${templateName} with (force)`);
    await embedded?.stop();
  };
};
