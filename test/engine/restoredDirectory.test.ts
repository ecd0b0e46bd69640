import { chmod, chown, cp, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { parseEpoch } from '../../src/core/epoch.ts';
import { declareRestored, watchLostEpoch } from '../../src/engine/chain/restores.ts';
import { reviewForNobody } from '../../src/engine/chain/reviewRestore.ts';
import { postgresFiles } from '../../src/local/postgres/postgresFiles.ts';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { epochsOf, makeRoom, many, prepare, startIn, xpub } from './restoreScene.ts';

const limit = { timeout: 240_000, tags: ['thorough'] };

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

  const { txHash, contract } = await after.pay(lost[0]!);
  // Paid by somebody else afterwards, so that the block with the lost money has been read.
  const { json: paid } = await after.create(keys.sandbox);
  await after.pay(paid.address);
  const receivedBy = () => after.rows<{ id: string }>('select id from payments where amount_received > 0');
  await until(receivedBy, rows => rows.length > 0);
  expect(await after.unclaimed()).toEqual([]);

  // The payment is forgotten. Its address is found again by the epoch, which old logs name.
  expect(await watchLostEpoch(after.admin, lostEpoch)).toBeGreaterThan(0);
  const funds = await after.firstUnclaimed();
  expect(funds).toMatchObject({ address: lost[0], txHash, contract, amount: '5000000', walletKind: 'forwarder' });
  expect(await receivedBy()).toEqual([{ id: paid.id }]);
  await after.stop();
});

test('a copy that is started with --restored repeats no address of an extended public key', limit, async () => {
  const room = await makeRoom();
  const { accountId, keys } = await prepare(room);
  const first = await startIn(room);
  await setWallet(first.admin, { accountId, environment: 'sandbox' }, 'polygon', { xpub });
  await first.stop();
  await cp(join(room, 'data'), join(room, 'backup'), { recursive: true, preserveTimestamps: true });
  const before = await startIn(room);
  const lost = await before.createMany(keys.sandbox, 'polygon');
  await before.stop();

  await rm(join(room, 'data'), { recursive: true });
  await cp(join(room, 'backup'), join(room, 'data'), { recursive: true, preserveTimestamps: true });
  const after = await startIn(room, undefined, { restored: { most: many } });
  const refused = await after.create(keys.production, 'production');
  expect(refused.json.error.message, 'from the first request on').toContain('restored from a backup');
  const made = await after.createMany(keys.sandbox, 'polygon');
  expect(new Set([...lost, ...made]).size).toBe(lost.length + made.length);
  await after.pay(lost.at(-1)!);
  expect(await after.firstUnclaimed()).toMatchObject({ address: lost.at(-1), walletKind: 'xpub' });
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
    const { accountId, keys } = await prepare(room);
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
    await after.pay(lost);
    const funds = await after.firstUnclaimed();
    expect(funds.address).toBe(lost);
    expect(await declareRestored(after.admin)).toMatchObject({ wasDetected: true, inReview: 1 });
    await until(
      async () => (await after.create(keys.production, 'production')).json.error.message as string,
      message => message.includes(`florin restored --review ${accountId}`),
    );
    await reviewForNobody(after.admin, accountId);
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
  expect((await declareRestored(after.admin)).watched).toBeGreaterThanOrEqual(10_000);
  await after.pay(lost.at(-1)!);
  const funds = await after.firstUnclaimed();
  expect(funds).toMatchObject({ address: lost.at(-1), amount: '5000000' });
  // Addresses of the running process are watched, too, and belong to their payments once they have them.
  await after.completesOwn(keys.sandbox);
  await after.stop();
});
