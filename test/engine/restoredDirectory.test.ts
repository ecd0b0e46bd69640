import { chmod, chown, cp, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDevPayer } from '../../src/chains/evm/devPayer.ts';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { parseEpoch } from '../../src/core/epoch.ts';
import { silentLog } from '../../src/core/log.ts';
import { permissions } from '../../src/core/permissions.ts';
import { createAccount, createKey } from '../../src/engine/accounts.ts';
import { declareRestored, watchLostEpoch } from '../../src/engine/restores.ts';
import { postgresFiles } from '../../src/local/postgres/postgresFiles.ts';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { listUnclaimed } from '../../src/storage/unclaimed.ts';
import { createClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 240_000, tags: ['thorough'] };
/** Created after the backup, and again after the restore. */
const many = 600;
const order = { amount: '5', currency: 'USDC', network: 'base' };

const makeRoom = async (): Promise<string> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-restored-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  return room;
};

/** A whole Florin on its embedded database and its own chain, as `npm start` runs it. */
const startIn = async (room: string) => {
  const env = { FLORIN_ROLES: 'api,watch', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' };
  const config = await loadConfig({ env, cwd: room });
  const florin = await startFlorin(config, silentLog);
  const started = new AsyncDisposableStack();
  started.defer(florin.stop);
  atEndOfFile(() => started.disposeAsync());
  const storage = await openStorage(config, silentLog);
  started.defer(storage.stop);
  const admin = await openAdmin(config, storage);
  const client = await createClient(florin);
  started.defer(client.close);
  const create = async (key: string, environment: 'sandbox' | 'production' = 'sandbox') =>
    client.call('POST', '/v1/payments', { key, environment, body: order });
  return {
    admin,
    create,
    payer: async () => {
      const { port } = JSON.parse(await readFile(join(config.dataDir, 'devchain.json'), 'utf8')) as { port: number };
      return createDevPayer(`http://127.0.0.1:${port}`);
    },
    async createMany(key: string): Promise<string[]> {
      const addresses: string[] = [];
      const work = Array.from({ length: 64 }, async () => {
        while (addresses.length < many) {
          const { status, text, json } = await create(key);
          expect(status, text).toBe(200);
          addresses.push(json.address);
        }
      });
      await Promise.all(work);
      return addresses;
    },
    stop: () => started.disposeAsync(),
  };
};

const prepare = async (room: string) => {
  const florin = await startIn(room);
  const account = await createAccount(florin.admin, {
    name: 'Shop',
    plan: 'enterprise',
    rateLimit: 10_000_000,
    burst: 10_000_000,
  });
  const key = (environment: 'sandbox' | 'production') =>
    createKey(florin.admin, { accountId: account.id, environment, name: 'test', scopes: permissions, ipAllow: null, expiresAt: null }); // biome-ignore format: one call
  const keys = { sandbox: (await key('sandbox')).key, production: (await key('production')).key };
  expect((await florin.create(keys.sandbox)).status).toBe(200);
  await florin.stop();
  return { accountId: account.id, keys };
};

const epochsOf = async (room: string): Promise<string[]> =>
  (await readFile(join(room, 'data', 'derivation-epochs'), 'utf8')).trim().split('\n');

test('a data directory that is copied while stopped and restored hands out no address twice', limit, async () => {
  const room = await makeRoom();
  const { keys } = await prepare(room);
  await cp(join(room, 'data'), join(room, 'backup'), { recursive: true, preserveTimestamps: true });

  const before = await startIn(room);
  const lost = await before.createMany(keys.sandbox);
  await before.stop();
  const lostEpoch = parseEpoch((await epochsOf(room)).at(-1)!)!;

  await rm(join(room, 'data'), { recursive: true });
  await cp(join(room, 'backup'), join(room, 'data'), { recursive: true, preserveTimestamps: true });
  const after = await startIn(room);
  const made = await after.createMany(keys.sandbox);
  expect(new Set([...lost, ...made]).size).toBe(lost.length + made.length);

  const { contract } = (await after.admin.db.query<{ contract: string }>({ name: '', text: 'select contract from payments limit 1' }))[0]!; // biome-ignore format: one query
  const txHash = await (await after.payer()).pay({ to: lost[0]!, token: contract, amount: 5_000_000n });
  // Paid by somebody else afterwards, so that the block with the lost money has been read.
  const { json: paid } = await after.create(keys.sandbox);
  await (await after.payer()).pay({ to: paid.address, token: contract, amount: 5_000_000n });
  const receivedBy = () =>
    after.admin.db.query<{ id: string }>({ name: '', text: 'select id from payments where amount_received > 0' });
  await until(receivedBy, rows => rows.length > 0);
  expect(await listUnclaimed(after.admin.db, null, 10)).toEqual([]);

  // The payment is forgotten. Its address is found again by the epoch, which old logs name.
  expect(await watchLostEpoch(after.admin, lostEpoch)).toBeGreaterThan(0);
  const [funds] = await until(
    () => listUnclaimed(after.admin.db, null, 10),
    rows => rows.length > 0,
  );
  expect(funds).toMatchObject({ address: lost[0], txHash, contract, amount: '5000000', walletKind: 'forwarder' });
  expect(await receivedBy()).toEqual([{ id: paid.id }]);
  await after.stop();
});

test('two copies that run at once hand out no address twice', limit, async () => {
  const room = await makeRoom();
  const { keys } = await prepare(room);
  const other = await makeRoom();
  await cp(join(room, 'data'), join(other, 'data'), { recursive: true, preserveTimestamps: true });
  const both = [await startIn(room), await startIn(other)];
  const made = await Promise.all(both.map(each => each.createMany(keys.sandbox)));
  expect(new Set(made.flat()).size).toBe(made.flat().length);
  for (const each of both) await each.stop();
});

test(
  'a database that is put back beneath its data directory refuses production until florin restored',
  limit,
  async () => {
    const room = await makeRoom();
    const { keys } = await prepare(room);
    await cp(join(room, 'data'), join(room, 'backup'), { recursive: true, preserveTimestamps: true });
    const before = await startIn(room);
    const lost = (await before.create(keys.sandbox)).json.address as string;
    await before.stop();
    const epochs = await epochsOf(room);

    await rm(join(room, 'data'), { recursive: true });
    await cp(join(room, 'backup'), join(room, 'data'), { recursive: true, preserveTimestamps: true });
    await writeFile(join(room, 'data', 'derivation-epochs'), `${epochs.join('\n')}\n`);
    const after = await startIn(room);
    const refused = await after.create(keys.production, 'production');
    expect([refused.status, refused.json.error.code]).toEqual([503, 'service_unavailable']);
    expect(refused.json.error.message).toContain('florin restored');
    const made = await after.create(keys.sandbox);
    expect(made.status, 'forwarders of the sandbox need nothing').toBe(200);
    expect(made.json.address).not.toBe(lost);

    // The lost address is watched without being named: the data directory knows its epoch.
    const { contract } = (await after.admin.db.query<{ contract: string }>({ name: '', text: 'select contract from payments limit 1' }))[0]!; // biome-ignore format: one query
    await (await after.payer()).pay({ to: lost, token: contract, amount: 5_000_000n });
    const [funds] = await until(
      () => listUnclaimed(after.admin.db, null, 10),
      rows => rows.length > 0,
    );
    expect(funds!.address).toBe(lost);
    expect(await declareRestored(after.admin)).toMatchObject({ wasDetected: true, watched: 0 });
    await until(
      async () => (await after.create(keys.production, 'production')).json.error.code as string,
      code => code === 'network_unavailable',
    );
    await after.stop();
    const rested = await startIn(room);
    expect((await rested.create(keys.production, 'production')).json.error.code, 'no false alarm').toBe(
      'network_unavailable',
    );
    await rested.stop();
  },
);

/** Copies the files of a running server as pg_basebackup does, with the functions of PostgreSQL for it. */
const takeBaseBackup = async (room: string, to: string): Promise<void> => {
  const { cluster } = postgresFiles(await realpath(join(room, 'data')));
  const client = new pg.Client({ ...(await findSuperuser({ dataDir: join(room, 'data') }))!, database: 'florin' });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('drill', true)`);
    const leftOut = /\/(postmaster\.(pid|opts)|pg_wal\/.+|pg_stat_tmp\/.+|pgsql_tmp.*|pg_internal\.init)$/;
    await cp(cluster, to, { recursive: true, filter: path => !leftOut.test(path) });
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    await writeFile(join(to, 'backup_label'), rows[0].labelfile);
    await cp(join(cluster, 'pg_wal'), join(to, 'pg_wal'), { recursive: true });
    const { uid, gid } = await stat(cluster);
    for (const entry of ['', ...(await readdir(to, { recursive: true }))]) await chown(join(to, entry), uid, gid);
    await chmod(to, 0o700);
  } finally {
    await client.end();
  }
};

test('a base backup of a running server that is put back hands out no address twice', limit, async () => {
  const room = await makeRoom();
  const { keys } = await prepare(room);
  const before = await startIn(room);
  await takeBaseBackup(room, join(room, 'base'));
  const lost = await before.createMany(keys.sandbox);
  await before.stop();

  const { cluster } = postgresFiles(await realpath(join(room, 'data')));
  await rm(cluster, { recursive: true });
  await rename(join(room, 'base'), cluster);
  const after = await startIn(room);
  const made = await after.createMany(keys.sandbox);
  expect(new Set([...lost, ...made]).size).toBe(lost.length + made.length);
  // Nothing shows that it was put back: the process that ran had started before the backup.
  expect((await declareRestored(after.admin)).watched).toBeGreaterThanOrEqual(1_000);
  const { contract } = (await after.admin.db.query<{ contract: string }>({ name: '', text: 'select contract from payments limit 1' }))[0]!; // biome-ignore format: one query
  await (await after.payer()).pay({ to: lost[500]!, token: contract, amount: 5_000_000n });
  const [funds] = await until(
    () => listUnclaimed(after.admin.db, null, 10),
    rows => rows.length > 0,
  );
  expect(funds).toMatchObject({ address: lost[500], amount: '5000000' });
  // Addresses of the running process are watched, too, and belong to their payments once they have them.
  const { json: own } = await after.create(keys.sandbox);
  await (await after.payer()).pay({ to: own.address, token: contract, amount: 5_000_000n });
  const status = async () => (await after.admin.db.query<{ status: string }>({ name: '', text: `select status from payments where id = '${own.id}'` }))[0]!.status; // biome-ignore format: one query
  await until(status, each => each === 'completed');
  expect(await listUnclaimed(after.admin.db, null, 10)).toHaveLength(1);
  await after.stop();
});
