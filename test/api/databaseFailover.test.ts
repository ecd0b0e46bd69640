// @module-tag thorough
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { permissions } from '../../src/core/access/rights.ts';
import { silentLog } from '../../src/core/log.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { createClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { createKey, setWallet } from '../support/operator.ts';
import { startTwoServers } from '../support/twoServers.ts';
import { until } from '../support/until.ts';

const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';

const start = async (url: string) => {
  const room = await mkdtemp(join(tmpdir(), 'florin-failover-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  const env = { DATABASE_URL: url, FLORIN_ROLES: 'api,watch', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' };
  const config = await loadConfig({ env, cwd: room });
  const florin = await startFlorin(config, silentLog);
  atEndOfFile(florin.stop);
  const storage = await openStorage(config, silentLog);
  const admin = await openAdmin(config, storage);
  const account = await createAccount(admin, { name: 'Shop', plan: 'enterprise', rateLimit: 1e6, burst: 1e6 });
  const scope = { accountId: account.id, environment: 'sandbox' } as const;
  const ever = { ipAllow: null, expiresAt: null };
  const { key } = await createKey(admin, { ...scope, name: 'test', scopes: permissions, ...ever });
  await setWallet(admin, scope, 'base', { treasury });
  await storage.stop();
  const client = await createClient(florin);
  atEndOfFile(client.close);
  const from = { key, environment: 'sandbox' } as const;
  return {
    create(orderId: string) {
      const body = { amount: '5', currency: 'USDC', network: 'base', externalId: orderId };
      const headers = { 'idempotency-key': orderId };
      return client.call('POST', '/v1/payments', { ...from, body, headers });
    },
    list: () => client.call('GET', '/v1/payments?limit=100', from),
  };
};

test('a standby that was promoted serves on: refusals are 503, and nothing acknowledged is lost or doubled', {
  timeout: 180_000,
}, async () => {
  const { primary, standby, url } = await startTwoServers({ synchronous_standby_names: 'standby' });
  const florin = await start(url(primary, standby));
  const acknowledged = new Map<string, string>();
  const statuses = new Set<number>();
  let orders = 0;
  /** One order, asked for until it is acknowledged. */
  const order = async (): Promise<void> => {
    const id = `order-${++orders}`;
    const { json } = await until(
      () => florin.create(id),
      ({ status }) => {
        statuses.add(status);
        return status === 200;
      },
    );
    acknowledged.set(id, json.id);
  };
  for (let count = 0; count < 5; count++) await order();
  expect([...statuses]).toEqual([200]);

  const meanwhile = Promise.all(Array.from({ length: 10 }, order));
  await primary.kill();
  await until(
    () => [...statuses],
    seen => seen.includes(503),
  );
  await standby.ask('select pg_promote()');
  await meanwhile;
  await order();

  expect([...statuses].sort()).toEqual([200, 503]);
  const { json } = await florin.list();
  const kept = new Map(json.data.map(({ externalId, id }: { externalId: string; id: string }) => [externalId, id]));
  expect(json.data).toHaveLength(acknowledged.size);
  expect(kept).toEqual(acknowledged);
});
