import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { createKeyFollower } from '../../src/engine/keys/followKeys.ts';
import { markOf, overMark } from '../../src/engine/keys/rotationMark.ts';
import { createReleaseGate } from '../../src/engine/releaseGate.ts';
import type { Database } from '../../src/storage/database.ts';
import { putDeploymentValue } from '../../src/storage/deployment.ts';
import { listHolders, putKeyInForce, putRotationMark } from '../../src/storage/keys/keyState.ts';
import { loadRelease } from '../../src/storage/release.ts';
import { createKeyRing, type KeyRing } from '../../src/vault/keyRing.ts';
import { type MasterKey, masterKeyOf, nextKeyText, parseMasterKey } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

const former = masterKeyOf(Buffer.alloc(32, 1));
const next = parseMasterKey(nextKeyText(former));
/** The newest migration of this version. */
const knows = (await loadRelease()).migrations.length;
const unavailable = expect.objectContaining({ code: 'service_unavailable' });

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
});
afterAll(async () => {
  await db.close();
  await clone.drop();
});

let ring: KeyRing;
let readable: MasterKey[];
let nowMs: number;
let errors: string[];
let over: string[];
let follow: () => Promise<void>;
beforeEach(async () => {
  [readable, nowMs, errors, over] = [[former], 0, [], []];
  ring = createKeyRing({ current: former, other: null, isNext: false });
  const nothing = (): void => {};
  const log: Log = { debug: nothing, info: nothing, warn: nothing, error: (_, message) => void errors.push(message) };
  follow = createKeyFollower({
    db,
    ring,
    holder: 'a process',
    roles: ['api', 'watch'],
    gate: createReleaseGate(knows),
    log,
    monotonicMs: () => nowMs,
    load: async () => readable,
    onOver: async fingerprint => void over.push(fingerprint),
  });
  await putDeploymentValue(db, 'master_key_fingerprint', former.fingerprint);
  await putDeploymentValue(db, 'master_key_rotation', overMark);
});

const mark = (phase: 'announced' | 'begun') => putRotationMark(db, former.fingerprint, markOf(former, phase, next));
const makes = () => ring.held().current.fingerprint;
const isAccepted = (by: MasterKey) => ring.vault.isRowSeal('a', ['b'], createVault(by).rowSeal('a', ['b']));

test('a process accepts both keys, then makes values with the next, then forgets the former', async () => {
  readable.push(next);
  await follow();
  expect([makes(), isAccepted(next)]).toEqual([former.fingerprint, false]);
  await mark('announced');
  await follow();
  expect([makes(), isAccepted(next)]).toEqual([former.fingerprint, true]);
  await mark('begun');
  await follow();
  expect([makes(), isAccepted(former)]).toEqual([next.fingerprint, true]);
  await follow();
  const held = { holder: 'a process', makes: next.fingerprint, accepts: former.fingerprint };
  expect(await listHolders(db)).toEqual([held]);
  await putKeyInForce(db, former.fingerprint, next.fingerprint);
  await putDeploymentValue(db, 'master_key_rotation', overMark);
  await follow();
  expect([makes(), isAccepted(former)]).toEqual([next.fingerprint, false]);
  expect([over, errors]).toEqual([[next.fingerprint], []]);
});

test('a process that missed both steps takes the key in force', async () => {
  readable.push(next);
  await putDeploymentValue(db, 'master_key_fingerprint', next.fingerprint);
  await follow();
  expect(makes()).toBe(next.fingerprint);
});

test('without the next key, a process goes on until the rotation begins, and stops then', async () => {
  await mark('announced');
  await follow();
  expect(ring.vault.rowSeal('a', ['b'])).toBeDefined();
  expect(isAccepted(next)).toBe(false);
  expect(errors).toEqual(['this process does not have the next master key']);
  await mark('begun');
  await follow();
  expect(() => ring.vault.rowSeal('a', ['b'])).toThrow(unavailable);
  expect(() => isAccepted(next)).toThrow(unavailable);
  expect(isAccepted(former)).toBe(true);
  readable.push(next);
  await follow();
  expect([makes(), isAccepted(former)]).toEqual([next.fingerprint, true]);
});

test('a mark that somebody wrote, changed, put back or removed moves nothing', async () => {
  readable.push(next);
  const other = parseMasterKey(nextKeyText(former));
  readable.push(other);
  await putDeploymentValue(
    db,
    'master_key_rotation',
    markOf(next, 'begun', other).replace(next.fingerprint, former.fingerprint),
  );
  await follow();
  await putDeploymentValue(db, 'master_key_rotation', markOf(former, 'announced', next).replace('announced', 'begun'));
  await follow();
  expect([makes(), isAccepted(next), isAccepted(other)]).toEqual([former.fingerprint, false, false]);
  expect(new Set(errors)).toEqual(new Set(['the mark of a key rotation was changed in the database']));
  await mark('begun');
  await follow();
  for (const text of [overMark, markOf(former, 'announced', next)]) {
    await putDeploymentValue(db, 'master_key_rotation', text);
    await follow();
    expect([makes(), isAccepted(former)]).toEqual([next.fingerprint, true]);
  }
  expect(errors.at(-1)).toBe('the mark of a key rotation was removed from the database');
});

test('a process that cannot ask makes no value after 20 seconds', async () => {
  nowMs = 20_000;
  expect(ring.vault.rowSeal('a', ['b'])).toBeDefined();
  nowMs += 1;
  expect(() => ring.vault.rowSeal('a', ['b'])).toThrow(unavailable);
  expect(isAccepted(former)).toBe(true);
  await follow();
  expect(ring.vault.rowSeal('a', ['b'])).toBeDefined();
});

test('a process makes nothing and calls nothing forged once the upgrade to a newer version is finished', async () => {
  await follow();
  const sealed = ring.vault.rowSeal('a', ['b']);
  expect(ring.vault.isRowSeal('a', ['c'], sealed)).toBe(false);
  await db.script(`insert into schema_migrations values (${knows + 1}, 'next', 'x', default)`);
  await follow();
  expect(errors).toEqual(['the upgrade of the database to a newer version is finished']);
  expect(() => ring.vault.rowSeal('a', ['b'])).toThrow(unavailable);
  expect(() => ring.vault.isRowSeal('a', ['c'], sealed)).toThrow(unavailable);
  expect(ring.vault.isRowSeal('a', ['b'], sealed)).toBe(true);
  await db.script(`delete from schema_migrations where version = ${knows + 1}`);
  // It knows what it knows.
  await follow();
  expect(() => ring.vault.rowSeal('a', ['b'])).toThrow(unavailable);
});
