import { expect, inject, test } from 'vitest';
import { startStorage } from '../../src/cli/compose.ts';
import { ConfigError, loadConfig } from '../../src/cli/config.ts';
import { silentLog } from '../../src/core/log.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { eventually } from '../support/until.ts';
import { makeRoom } from './cliProcess.ts';

const connections = {
  name: 'test-connections',
  text: 'select count(*)::int as open from pg_stat_activity where datname = $1',
};

test('a server that is refused is left without a connection', async () => {
  const database = await cloneDatabase();
  const room = await makeRoom();
  const admin = openTestDatabase(inject('adminUrl'));
  try {
    const name = new URL(database.url).pathname.slice(1);
    await admin.script(`alter database ${name} set synchronous_commit = off`);
    const config = await loadConfig({ env: { DATABASE_URL: database.url, FLORIN_DATA_DIR: room } });
    const outcome = await startStorage(config, silentLog).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(ConfigError);
    expect((outcome as ConfigError).message).toContain('synchronous_commit');
    // The server notices the end of a connection a moment after it was closed.
    await eventually(async () => expect(await admin.query(connections, [name])).toEqual([{ open: 0 }]));
  } finally {
    await admin.close();
    await database.drop();
  }
});
