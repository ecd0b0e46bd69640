import { execFile } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readGate } from '../../src/engine/chain/restoreGate.ts';
import { declareRestored } from '../../src/engine/chain/restores.ts';
import { run as florin } from '../cli/cliProcess.ts';
import { cloneDatabase } from '../support/databases.ts';
import { setWallet } from '../support/operator.ts';
import { makeRoom, many, prepare, startIn, xpub } from './restoreScene.ts';

const run = promisify(execFile);

/** The embedded server comes without pg_dump. One that is named by TEST_DATABASE_URL must have it on the PATH. */
const options = { timeout: 240_000, tags: ['thorough', 'dump'] };

test('a dump that is restored into a new database hands out no address twice', options, async () => {
  const room = await makeRoom();
  const [old, fresh] = [await cloneDatabase(), await cloneDatabase()];
  const { accountId, keys } = await prepare(room, old.url);
  const before = await startIn(room, old.url);
  await setWallet(before.admin, { accountId, environment: 'sandbox' }, 'polygon', { xpub });
  const file = join(room, 'florin.dump');
  await run('pg_dump', ['--format=custom', `--file=${file}`, old.url]);
  const lost = await before.createMany(keys.sandbox);
  const lostOfKey = await before.createMany(keys.sandbox, 'polygon');
  await before.stop();

  await run('pg_restore', ['--clean', '--if-exists', '--exit-on-error', `--dbname=${fresh.url}`, file]);
  const after = await startIn(room, fresh.url);
  // It may be the same database at another place, which is no risk for forwarders.
  expect(await readGate(after.admin)).toMatchObject({ state: 'extended_keys' });
  const made = await after.createMany(keys.sandbox);
  expect((await after.create(keys.sandbox, 'sandbox', 'polygon')).json.error.message).toContain('florin restored');

  expect(await declareRestored(after.admin, { most: 20 * many })).toMatchObject({ wasDetected: true });
  const all = [...lost, ...lostOfKey, ...made, ...(await after.createMany(keys.sandbox, 'polygon'))];
  expect(new Set(all).size).toBe(all.length);
  await after.pay(lost.at(-1)!);
  expect(await after.firstUnclaimed()).toMatchObject({ address: lost.at(-1), amount: '5000000' });
  await after.completesOwn(keys.sandbox);
  await after.stop();
});

test(
  'a drill on a dump, with an empty data directory and --restored, leaves nothing but the review',
  options,
  async () => {
    const [room, elsewhere] = [await makeRoom(), await makeRoom()];
    const [old, fresh] = [await cloneDatabase(), await cloneDatabase()];
    const { keys } = await prepare(room, old.url);
    const before = await startIn(room, old.url);
    const file = join(room, 'florin.dump');
    await run('pg_dump', ['--format=custom', `--file=${file}`, old.url]);
    const lost = await before.createMany(keys.sandbox);
    await before.stop();

    await run('pg_restore', ['--clean', '--if-exists', '--exit-on-error', `--dbname=${fresh.url}`, file]);
    const keyIn = (place: string): string => join(place, 'data', 'keys', 'master');
    await mkdir(dirname(keyIn(elsewhere)), { recursive: true, mode: 0o700 });
    await copyFile(keyIn(room), keyIn(elsewhere));
    const after = await startIn(elsewhere, fresh.url, { restored: { most: 20 * many } });
    const made = await after.createMany(keys.sandbox);
    expect(new Set([...lost, ...made]).size).toBe(lost.length + made.length);
    const doctor = await florin(['doctor', '--deep', '--json'], elsewhere, { DATABASE_URL: fresh.url });
    const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; ok: boolean }[] };
    expect(findings.filter(({ ok }) => !ok)).toMatchObject([{ check: 'restore' }]);
    await after.stop();
  },
);
