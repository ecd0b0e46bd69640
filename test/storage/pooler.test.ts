import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startStorage } from '../../src/cli/compose.ts';
import { ConfigError, loadConfig } from '../../src/cli/config.ts';
import { silentLog } from '../../src/core/log.ts';
import { createConnector } from '../../src/storage/connect.ts';
import { listen } from '../../src/storage/listen.ts';
import { isTransactionPooled } from '../../src/storage/pooler.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { startTwoServers, type TwoServers } from '../support/twoServers.ts';
import { eventually } from '../support/until.ts';

let servers: TwoServers;
beforeAll(async () => {
  servers = await startTwoServers();
});

const start = async (url: string) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-'));
  atEndOfFile(() => rm(dataDir, { recursive: true, force: true }));
  const config = await loadConfig({ env: { DATABASE_URL: url, FLORIN_DATA_DIR: dataDir } });
  const storage = await startStorage(config, silentLog);
  atEndOfFile(storage.stop);
  return storage;
};

test('a server without a pooler is none', async () => {
  const { primary, url } = servers;
  expect(await isTransactionPooled({ connectionString: url(primary) })).toBe(false);
});

describe('PgBouncer', { tags: ['pgbouncer'] }, () => {
  test.each(['transaction', 'statement'])('in %s mode is refused, and the message says what to do', async mode => {
    const url = await startPgbouncer(servers.primary, { pool_mode: mode });
    const refused = await start(url).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    expect((refused as ConfigError).problems).toEqual([
      expect.stringMatching(/^DATABASE_URL leads to a pooler in transaction mode.*pool_mode = session/),
    ]);
  });

  test('in transaction mode is noticed also if it takes its connections in turn', async () => {
    const url = await startPgbouncer(servers.primary, { pool_mode: 'transaction', server_round_robin: 1 });
    // Transactions at the same time make it open several connections.
    const clients = await Promise.all(
      Array.from({ length: 3 }, () => createConnector({ connectionString: url }).connect()),
    );
    for (const client of clients) await client.query('begin');
    for (const client of clients) await client.query('commit');
    expect(await isTransactionPooled({ connectionString: url })).toBe(true);
    for (const client of clients) await client.end();
  });

  test('in session mode serves everything, notifications too', async () => {
    const url = await startPgbouncer(servers.primary, { pool_mode: 'session' });
    expect(await isTransactionPooled({ connectionString: url })).toBe(false);
    const { db } = await start(url);
    const heard: string[] = [];
    const connected: string[] = [];
    const listening = listen(
      { connectionString: url },
      {
        channel: 'news',
        onNotification: payload => void heard.push(payload),
        onConnected: () => void connected.push('connected'),
        log: silentLog,
      },
    );
    atEndOfFile(listening.stop);
    await eventually(() => expect(connected).toHaveLength(1));
    await db.transaction(tx => tx.query({ name: 'test-notify', text: `select pg_notify('news', 'a')::text` }));
    await eventually(() => expect(heard).toEqual(['a']));
  });
});
