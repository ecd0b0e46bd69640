import pg from 'pg';
import { silentLog } from '../src/core/log.ts';
import { findPostgres, type PostgresConnection } from '../src/local/postgres/startPostgres.ts';
import { migrate } from '../src/storage/migrate.ts';
import type { Scene } from './scene.ts';

export const withClient = async <T>(
  connection: PostgresConnection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** The service's connection to a database of the scene's server. */
export const serviceOf = async (scene: Scene, database: string): Promise<PostgresConnection> => ({
  ...(await findPostgres({ dataDir: scene.dataDir }))!.service,
  database,
});

export const superuserOf = (scene: Scene, database = 'postgres'): PostgresConnection => ({
  ...scene.superuser,
  database,
});

const run = async (scene: Scene, ...statements: string[]): Promise<void> =>
  withClient(superuserOf(scene), async client => {
    for (const statement of statements) await client.query(statement);
  });

export const dropDatabase = (scene: Scene, name: string): Promise<void> =>
  run(scene, `drop database if exists ${name} with (force)`);

/** Copies a database, then runs a checkpoint, so that the next measurement pays for its own writes only. */
export const copyDatabase = async (scene: Scene, from: string, name: string): Promise<void> => {
  await dropDatabase(scene, name);
  await run(scene, `create database ${name} template ${from} owner ${scene.database.user}`, 'checkpoint');
};

export const createDatabase = async (scene: Scene, name: string): Promise<void> => {
  await dropDatabase(scene, name);
  await run(scene, `create database ${name} owner ${scene.database.user}`);
};

/** Creates a migrated database on the scene's server. */
export const createMigrated = async (scene: Scene, name: string): Promise<void> => {
  await createDatabase(scene, name);
  const { user } = await serviceOf(scene, name);
  await migrate({ ...scene.database, database: name }, { log: silentLog, serviceRole: user });
};
