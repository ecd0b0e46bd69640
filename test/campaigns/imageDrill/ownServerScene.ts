import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { probeConnection } from '../../../src/cli/compose.ts';
import { silentLog } from '../../../src/core/log.ts';
import { type PostgresConnection, startPostgres } from '../../../src/local/postgres/startPostgres.ts';
import { freePort } from '../../support/freePort.ts';
import { expectEqual, type Scene } from './check.ts';
import { runContainer } from './container.ts';
import { shopOf } from './shop.ts';

const urlOf = ({ user, password, database, port }: PostgresConnection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=/run/database`;

/** A PostgreSQL outside of the container, and all secrets in files. */
export const ownServerScene = async ({ folder, image, runOptions, check }: Scene): Promise<void> => {
  const [dataDir, secrets] = [join(folder, 'data'), join(folder, 'secrets')];
  for (const path of [dataDir, secrets, join(folder, 'database')]) mkdirSync(path);
  const database = await startPostgres({ dataDir: join(folder, 'database'), log: silentLog, probe: probeConnection });
  try {
    const files = {
      DATABASE_URL: urlOf(database.service),
      FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner),
      FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(secrets, name), `${text}\n`);
    chmodSync(dataDir, 0o770);
    const [port, sandboxPort] = [await freePort(), await freePort()];
    const named = Object.keys(files).map(name => [`${name}_FILE`, `/run/secrets/${name}`]);
    const ports = { FLORIN_HOST: '127.0.0.1', FLORIN_PORT: `${port}`, FLORIN_SANDBOX_PORT: `${sandboxPort}` };
    const env = { ...ports, ...Object.fromEntries(named) };
    // The socket may be used by its owner only.
    const user = `${statSync(database.service.host).uid}:0`;
    const volumes = [`${dataDir}:/data`, `${secrets}:/run/secrets:ro`, `${database.service.host}:/run/database`];
    await check('with DATABASE_URL and secrets in files, a payment is completed and kept', async () => {
      const container = runContainer({ image, user, volumes, env, runOptions });
      try {
        await container.waitUntilReady();
        const shop = shopOf(container, dataDir, sandboxPort);
        const id = await shop.completePayment();
        expectEqual(container.stop(), 0, 'exit code');
        container.startAgain();
        await container.waitUntilReady();
        expectEqual(await shop.stateOf(id), 'completed', 'the payment');
        expectEqual(container.exec('ls', '/data').split('\n').includes('keys'), false, 'a key in the data directory');
        return 'no key in the data directory';
      } finally {
        container.remove();
      }
    });
  } finally {
    await database.stop();
  }
};
