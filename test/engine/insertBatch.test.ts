import { expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { silentLog } from '../../src/core/log.ts';
import { silentMeter } from '../../src/core/meter.ts';
import { createInsert } from '../../src/engine/payments/insertBatch.ts';
import { createKeyRing, type Hindrance } from '../../src/vault/keyRing.ts';
import { masterKeyOf, masterKeyPath, readKeyFile } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';
import { newPayment } from '../api/listingScene.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin } from '../support/florin.ts';

const scene = await startTestFlorin();
const account = await scene.account();
const former = (await readKeyFile(masterKeyPath(scene.config.dataDir)))!;
const next = masterKeyOf(Buffer.alloc(32, 9));
const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));
let index = 0;

const payment = () => {
  const nowMs = Date.now();
  const wanted = { createdMs: nowMs, currency: 'ETH', network: 'base', status: 'pending' as const };
  return newPayment(scene, account, ids.next('payment', nowMs).id, ids.next('event', nowMs).id, index++, wanted);
};

/** Two payments: the first is being written, and the second waits for it with its seals when `act` is called. */
const insertTwo = async (act: (ring: ReturnType<typeof createKeyRing>) => void) => {
  const ring = createKeyRing({ current: former, other: null, isNext: false });
  const storage = await openStorage(scene.config, silentLog);
  atEndOfFile(storage.stop);
  const admin = await openAdmin(scene.config, storage, silentLog, ring);
  const begun = Promise.withResolvers<void>();
  const meter = { ...silentMeter, createBatch: () => begun.resolve() };
  const insert = createInsert({ ...admin, keptHours: 24, meter });
  const [first, second] = [payment(), payment()];
  const results: Promise<unknown>[] = [];
  await scene.admin.db.transaction(async tx => {
    await tx.query({ name: 'test-hold', text: 'lock table payments in share mode' });
    results.push(insert(first));
    await begun.promise;
    results.push(insert(second));
    // Seals are made in the next turn.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    act(ring);
  });
  return { first, second, results: await Promise.allSettled(results) };
};

const macOf = async (id: string): Promise<Buffer | undefined> => {
  const statement = { name: 'test-mac', text: 'select mac from payments where id = $1' };
  const [row] = await scene.admin.db.query<{ mac: Buffer }>(statement, [id]);
  return row?.mac;
};

test('a payment that waits is sealed with the master key of the time when it is written', async () => {
  const { first, second, results } = await insertTwo(ring => ring.hold({ current: next, other: former, isNext: true }));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  const sealOf = ({ derivationIndex, ...fields }: typeof first) => ({ ...fields, index: derivationIndex });
  expect(createVault(former).verifyPaymentMac(sealOf(first), (await macOf(first.id))!)).toBe(true);
  expect(createVault(next).verifyPaymentMac(sealOf(second), (await macOf(second.id))!)).toBe(true);
});

test('a payment that waits is refused if its process may make no more values', async () => {
  let hindrance: Hindrance = null;
  const { first, second, results } = await insertTwo(ring => {
    ring.guard(() => hindrance);
    hindrance = 'stale';
  });
  expect(results).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'service_unavailable' } },
  ]);
  expect(await macOf(first.id)).toBeDefined();
  expect(await macOf(second.id)).toBeUndefined();
});
