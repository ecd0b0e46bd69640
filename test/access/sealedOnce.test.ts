import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createIds, monotonicMs, openAdmin, openStorage } from '../../src/cli/compose.ts';
import { type Config, loadConfig } from '../../src/cli/config.ts';
import { examineSeals } from '../../src/cli/doctorChecks.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { sealOnce } from '../../src/cli/sealsFile.ts';
import { permissions } from '../../src/core/access/rights.ts';
import { silentLog } from '../../src/core/log.ts';
import { silentProgress } from '../../src/core/progress.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { readGate } from '../../src/engine/chain/restoreGate.ts';
import { areRowsSealed, sealOlderRows } from '../../src/engine/seals/sealOlderRows.ts';
import { verifySeals } from '../../src/engine/seals/verifySeals.ts';
import { createDatabaseClock } from '../../src/storage/databaseClock.ts';
import { createFloors } from '../../src/storage/floors.ts';
import { generateApiKey } from '../../src/vault/apiKeys.ts';
import { makeRoom } from '../engine/restoreScene.ts';
import { openRows } from '../storage/rows.ts';
import { createClient } from '../support/client.ts';
import { cloneDatabase } from '../support/databases.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey } from '../support/operator.ts';
import { testVault } from '../support/testVault.ts';

const begunMark = ({ vault }: Pick<TestFlorin['admin'], 'vault'>): string =>
  `begun ${vault.rowSeal('deployment', ['rows_sealed', 'begun']).toString('hex')}`;

describe('a process with an empty data directory', () => {
  let scene: TestFlorin;
  let account: TestAccount;
  let config: Config;
  beforeAll(async () => {
    scene = await startTestFlorin();
    account = await scene.account();
  });
  beforeEach(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'florin-'));
    atEndOfFile(() => rm(dataDir, { recursive: true, force: true }));
    config = { ...scene.config, dataDir };
  });
  const seal = (): Promise<void> => sealOnce(config, scene.admin, { log: silentLog, progress: silentProgress });
  const statusOf = async (key: string): Promise<number> =>
    (await scene.client.call('GET', '/v1/payments?limit=1', { key })).status;
  const forgeKey = async (): Promise<{ id: string; key: string }> => {
    const { key, hash, hint } = generateApiKey('sandbox');
    const id = `key_${hash.toString('hex').slice(0, 26)}`;
    await scene.tamper(`insert into api_keys (account_id, environment, id, name, hash, hint, scopes)
      select account_id, environment, '${id}', name, '\\x${hash.toString('hex')}', '${hint}', scopes
      from api_keys where id = '${account.keyIds.sandbox}'`);
    return { id, key };
  };

  test.each([
    ['removed the mark', () => `delete from deployment where name = 'rows_sealed'`],
    [
      'put an earlier mark back',
      () => `update deployment set value = '${begunMark(scene.admin)}' where name = 'rows_sealed'`,
    ],
  ])('seals no row of somebody who %s, and doctor names it', async (_, change) => {
    const { id, key } = await forgeKey();
    await scene.tamper(change());
    await expect(seal()).rejects.toThrow('A row of api_keys has no seal');
    const { problems } = await examineSeals(config, scene.admin);
    expect(problems).toContain('the database does not say that its rows are sealed: start Florin');
    expect(problems).toContain(`api_keys ${account.id} sandbox ${id} was changed in the database`);
    expect(await statusOf(key)).toBe(401);
    await scene.tamper(`delete from api_keys where id = '${id}'`);
    await seal();
    expect((await examineSeals(config, scene.admin)).problems).toEqual([]);
  });

  test('seals no payment either', async () => {
    const body = { amount: '1', currency: 'USDC', network: 'base' };
    const made = await scene.client.call('POST', '/v1/payments', { key: account.keys.sandbox, body });
    await scene.tamper(`create table kept as select row_seal from payments where id = '${made.json.id}';
      update payments set row_seal = null where id = '${made.json.id}'; delete from deployment where name = 'rows_sealed'`);
    await expect(seal()).rejects.toThrow('A row of payments has no seal');
    await scene.tamper(`update payments set row_seal = (select row_seal from kept) where id = '${made.json.id}'`);
    await seal();
  });
});

describe('a database from before there were seals', () => {
  const open = async () => {
    const { db, account } = await openRows();
    const clock = createDatabaseClock(db, { monotonicMs, wallMs: Date.now });
    await clock.synchronize();
    const isFinished = () => true;
    return { admin: { db, clock, ids: createIds(), vault: testVault, floors: createFloors(), isFinished }, account };
  };
  const request = { name: 'Shop', plan: 'starter', rateLimit: null, burst: null } as const;

  test('is sealed after a run that was interrupted, and gets no account before', async () => {
    const { admin, account } = await open();
    await account();
    await expect(createAccount(admin, request)).rejects.toMatchObject({ code: 'conflict' });
    await admin.db.script(`insert into deployment (name, value) values ('rows_sealed', '${begunMark(admin)}')`);
    await expect(createAccount(admin, request)).rejects.toMatchObject({ code: 'conflict' });
    await sealOlderRows({ ...admin, log: silentLog }, false);
    expect(await areRowsSealed(admin)).toBe(true);
    await createAccount(admin, request);
    expect((await verifySeals(admin)).problems).toEqual([]);
  });

  test('that is new gets accounts before the first start, which then seals nothing', async () => {
    const { admin } = await open();
    await createAccount(admin, request);
    await createAccount(admin, request);
    await sealOlderRows({ ...admin, log: silentLog }, false);
    expect(await areRowsSealed(admin)).toBe(true);
    expect((await verifySeals(admin)).problems).toEqual([]);
    expect((await readGate(admin)).state).toBe('open');
    await admin.db.script(`delete from deployment where name in ('restore_gate', 'rows_sealed')`);
    await createAccount(admin, request);
    await sealOlderRows({ ...admin, log: silentLog }, false);
    expect((await readGate(admin)).state, 'who removes it opens nothing').toBe('production');
  });

  test('works in production after a command created an account before the first start', async () => {
    const room = await makeRoom();
    const { url } = await cloneDatabase();
    const env = { DATABASE_URL: url, FLORIN_ROLES: 'api', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' };
    const before = await loadConfig({ env, cwd: room });
    const storage = await openStorage(before, silentLog);
    const admin = await openAdmin(before, storage);
    const { id } = await createAccount(admin, request);
    const named = { accountId: id, environment: 'production', name: 'test' } as const;
    const { key } = await createKey(admin, { ...named, scopes: permissions, ipAllow: null, expiresAt: null });
    await storage.stop();
    const florin = await startFlorin(await loadConfig({ env, cwd: room }), silentLog);
    atEndOfFile(florin.stop);
    const client = await createClient(florin);
    atEndOfFile(client.close);
    const body = { url: 'https://shop.example/hook' };
    const created = await client.call('POST', '/v1/webhooks', { key, environment: 'production', body });
    expect(created.status, created.text).toBe(200);
  });
});
