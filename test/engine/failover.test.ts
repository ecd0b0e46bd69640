import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { permissions } from '../../src/core/access/rights.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { postgresFiles } from '../../src/local/postgres/postgresFiles.ts';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { postmasterPid } from '../local/postgresScene.ts';
import { createClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { createKey, setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';

const xpub =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';

/** A Florin on its embedded server, and an account with an extended public key. */
const start = async () => {
  const room = await mkdtemp(join(tmpdir(), 'florin-failover-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_, message) => void errors.push(message) };
  const env = { FLORIN_ROLES: 'api,watch', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' };
  const config = await loadConfig({ env, cwd: room });
  const florin = await startFlorin(config, log);
  atEndOfFile(florin.stop);
  const storage = await openStorage(config, silentLog);
  atEndOfFile(storage.stop);
  const admin = await openAdmin(config, storage);
  const client = await createClient(florin);
  atEndOfFile(client.close);
  const { id: accountId } = await createAccount(admin, { name: 'Shop', plan: 'starter', rateLimit: null, burst: null });
  const scope = { accountId, environment: 'sandbox' } as const;
  const { key } = await createKey(admin, {
    ...scope,
    name: 'test',
    scopes: permissions,
    ipAllow: null,
    expiresAt: null,
  });
  await setWallet(admin, scope, 'base', { xpub });
  const { dataDir } = config;
  const body = { amount: '5', currency: 'USDC', network: 'base' };
  return {
    dataDir,
    errors,
    create: () => client.call('POST', '/v1/payments', { key, environment: 'sandbox', body }),
    /** Asks the server as its superuser, once it answers. */
    async ask<T>(sql: string): Promise<T> {
      const server = new pg.Client({ ...(await findSuperuser({ dataDir }))!, database: 'florin' });
      server.on('error', () => {});
      await server.connect();
      try {
        return (await server.query(sql)).rows[0];
      } finally {
        await server.end();
      }
    },
    /** Stops the server as an administrator does. Its supervisor starts it again. */
    async restart(): Promise<void> {
      const pid = await postmasterPid(dataDir);
      process.kill(pid, 'SIGINT');
      await until(async () => {
        const next = await postmasterPid(dataDir).catch(() => pid);
        return next !== pid && (await this.ask('select 1').catch(() => null));
      }, Boolean);
    },
  };
};

test('a replica that takes over while Florin runs hands out no index of an extended public key', {
  timeout: 240_000,
  tags: ['thorough'],
}, async () => {
  const florin = await start();
  const first = await florin.create();
  expect(first.status, first.text).toBe(200);

  await florin.restart();
  const second = await until(florin.create, ({ status }) => status === 200);
  expect(second.json.address, 'a server that merely restarted is the same').not.toBe(first.json.address);

  // The next start of the server is that of a replica, which is promoted: it continues on another timeline.
  const { cluster } = postgresFiles(await realpath(florin.dataDir));
  await writeFile(join(cluster, 'standby.signal'), '', { mode: 0o644 });
  await florin.restart();
  expect(await florin.ask('select pg_is_in_recovery() as is')).toEqual({ is: true });
  await florin.ask('select pg_promote()');
  const refused = await until(florin.create, ({ text }) => text.includes('florin restored'));
  expect([refused.status, refused.json.error.code]).toEqual([503, 'service_unavailable']);
  const moved = 'the database was restored or moved: run florin restored';
  await until(async () => florin.errors.includes(moved), Boolean);
});
