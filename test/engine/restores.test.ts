import { expect, test, vi } from 'vitest';
import { type Epoch, firstIndexOf, formatEpoch, indexesPerEpoch, parseEpoch } from '../../src/core/epoch.ts';
import { silentLog } from '../../src/core/log.ts';
import { skippedIndexes, watchedAtOnce } from '../../src/engine/chain/lostAddresses.ts';
import { readGate } from '../../src/engine/chain/restoreGate.ts';
import { declareRestored, detectRestore } from '../../src/engine/chain/restores.ts';
import {
  createLookForRestore,
  createTakeEpoch,
  openDerivationIndexes,
} from '../../src/engine/payments/derivationIndexes.ts';
import { deriveAddress } from '../../src/engine/payments/paymentAddress.ts';
import { takeIndex } from '../../src/storage/chain/restores.ts';
import { startTestFlorin } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';

const lostKeys = async () =>
  (await query<{ count: number }>(`select count(*)::int as count from lost_addresses where wallet_kind = 'xpub'`))[0]!
    .count;

/** The derivation of an address of an extended public key takes a millisecond. */
const fewKeys = { most: 0 };

const xpub =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';

// A thousand addresses of an extended public key take a second, and more beside other tests.
vi.setConfig({ testTimeout: 60_000 });
const thorough = { tags: ['thorough'] };

const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
const { admin } = scene;
const { db, vault } = admin;
const errors: { fields: Record<string, unknown>; message: string }[] = [];
const log = {
  ...silentLog,
  error: (fields: object, message: string) => void errors.push({ fields: { ...fields }, message }),
};

const query = <T extends Record<string, unknown>>(text: string) => db.query<T>({ name: '', text });
const counters = () => query<{ series: string; next: string }>('select series, next from derivation_counters');

/** Keeps its epochs in memory, as the data directory keeps them on disk. */
const memoryOf = (remembered: Epoch[] = []) => ({
  remembered,
  remember: async (epoch: Epoch) => void remembered.push(epoch),
});
const take = (remembered: Epoch[] = []) =>
  createTakeEpoch(db, memoryOf(remembered), { holder: 'test', log: silentLog })();

test('an index has 63 bits: the epoch, its mark, and a count', () => {
  const last = { number: 2 ** 31 - 1, mark: 4095 };
  expect(firstIndexOf(last) + BigInt(indexesPerEpoch) - 1n).toBe(2n ** 63n - 1n);
  expect(firstIndexOf({ number: 1, mark: 0 })).toBe(2n ** 32n);
  expect(parseEpoch(formatEpoch(last))).toEqual(last);
  for (const text of ['', '1', '0.1', '1.4096', '2147483648.1', '1.-1', ' 1.1', '1.1\n']) {
    expect(parseEpoch(text), text).toBeNull();
  }
});

test('epochs grow, also beyond what the data directory remembers, and no two processes get the same', async () => {
  const first = await take();
  const all = await Promise.all(Array.from({ length: 20 }, () => take()));
  const numbers = [first, ...all].map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(Math.min(...all.map(({ number }) => number))).toBeGreaterThan(first.number);
  const ahead = Math.max(...numbers) + 1_000;
  expect((await take([{ number: ahead, mark: 7 }])).number).toBe(ahead + 1);
});

test('a process counts within its epoch, and takes another when it is full', thorough, async () => {
  const remembered: Epoch[] = [];
  const indexes = await openDerivationIndexes(
    admin,
    createTakeEpoch(db, memoryOf(remembered), { holder: 'test', log: silentLog }),
    async () => {},
  );
  expect(remembered).toHaveLength(1);
  const first = firstIndexOf(remembered[0]!);
  expect(await indexes.next('acct/sandbox', 'forwarder')).toBe(first);
  expect(await indexes.next('acct/sandbox', 'forwarder')).toBe(first + 1n);
  expect(await indexes.next('other/sandbox', 'forwarder')).toBe(first);
  for (let at = 2; at < indexesPerEpoch; at++) await indexes.next('acct/sandbox', 'forwarder');
  const [next, after] = await Promise.all([
    indexes.next('acct/sandbox', 'forwarder'),
    indexes.next('acct/sandbox', 'forwarder'),
  ]);
  expect(remembered).toHaveLength(2);
  expect([next, after]).toEqual([firstIndexOf(remembered[1]!), firstIndexOf(remembered[1]!) + 1n]);
});

test('an installation that merely rested is not taken for a restored one', async () => {
  const remembered: Epoch[] = [];
  await take(remembered);
  await take();
  await take(remembered);
  expect(await detectRestore(admin, remembered, log)).toBe('open');
  expect(await detectRestore(admin, [], log)).toBe('open');
  expect(errors).toEqual([]);
});

test(
  'a database from a dump closes extended public keys until the operator says so, and skips what may be out',
  thorough,
  async () => {
    const account = await scene.account();
    const scope = { accountId: account.id, environment: 'sandbox' as const };
    await setWallet(admin, scope, 'base', { xpub });
    const [wallet] = await query<{ destination: string }>(`select destination from wallets where kind = 'xpub'`);
    expect(wallet).toBeDefined();
    const series = 'xpub/test';
    expect(await takeIndex(db, series)).toMatchObject({ index: 0n });
    await db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
    const gates = await Promise.all([detectRestore(admin, [], log), detectRestore(admin, [], log)]);
    expect(gates).toContain('extended_keys');
    expect(errors.map(({ message }) => message)).toEqual(['the database was restored or moved: run florin restored']);
    expect(await takeIndex(db, series)).toBeNull();
    const lost = await query<{ address: string; index: string }>(
      `select address, derivation_index as index from lost_addresses where wallet_kind = 'xpub' order by derivation_index`,
    );
    expect(lost).toHaveLength(watchedAtOnce);
    const origin = { scope, walletKind: 'xpub', treasury: xpub, index: 3n } as const;
    expect(lost[3]).toEqual({ address: deriveAddress(vault, origin), index: '3' });
    const progress: [number, number][] = [];
    const declared = await declareRestored(admin, { most: 2_500, onProgress: (...now) => progress.push(now) });
    expect(declared.wasDetected).toBe(true);
    expect(await lostKeys()).toBe(2_500);
    expect(progress.slice(0, 3).map(([done]) => done)).toEqual([1_000, 2_000, 2_500]);
    expect(progress.at(-1)![0]).toBe(progress.at(-1)![1]);
    expect(await takeIndex(db, series)).toMatchObject({ index: 1n });
    expect((await counters()).map(({ next }) => next)).toContain(String(skippedIndexes));
    errors.length = 0;
  },
);

test(
  'a process that stays up while another database takes over hands out no index, and reports it',
  thorough,
  async () => {
    const detect = () => detectRestore(admin, [], log);
    const indexes = await openDerivationIndexes(admin, () => take(), createLookForRestore(admin, detect, log));
    const index = await indexes.next('xpub/failover', 'xpub');
    await db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
    expect((await readGate(admin)).state).toBe('open');
    await expect(indexes.next('xpub/failover', 'xpub')).rejects.toThrow('florin restored');
    const reported = () => errors.map(({ message }) => message);
    await until(async () => reported().length, Boolean);
    expect(reported()).toEqual(['the database was restored or moved: run florin restored']);
    expect((await readGate(admin)).state).toBe('extended_keys');
    await expect(indexes.next('xpub/failover', 'xpub')).rejects.toThrow('florin restored');
    await declareRestored(admin, fewKeys);
    expect(await indexes.next('xpub/failover', 'xpub')).toBe(index + 1n);
    errors.length = 0;
  },
);

test('a restore that is declared before any process noticed it is not reported afterwards', async () => {
  await db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
  expect(await declareRestored(admin, fewKeys)).toMatchObject({ wasDetected: false });
  expect(await takeIndex(db, 'xpub/declared')).toMatchObject({ index: 0n });
  expect(await detectRestore(admin, [], log)).toBe('open');
  expect(errors).toEqual([]);
});

test(
  'a database that is older than its data directory closes production, and watches the lost addresses',
  thorough,
  async () => {
    const account = await scene.account();
    const remembered: Epoch[] = [];
    await take(remembered);
    const lost = { number: remembered[0]!.number + 5, mark: 9 };
    const [first, again] = [
      await detectRestore(admin, [...remembered, lost], log),
      await detectRestore(admin, [...remembered, lost], log),
    ];
    expect([first, again]).toEqual(['production', 'production']);
    expect(errors).toHaveLength(1);
    expect(errors[0]!.fields.epochs).toEqual([formatEpoch(lost)]);
    const [watched] = await query<{ count: string }>(
      `select count(*) from lost_addresses where account_id = '${account.id}' and wallet_kind = 'forwarder'`,
    );
    expect(Number(watched!.count)).toBeGreaterThan(0);
    expect((await take([...remembered, lost])).number).toBeGreaterThan(lost.number);
    await declareRestored(admin, fewKeys);
    expect((await readGate(admin)).state).toBe('open');
  },
);

test('a declared restore skips the indexes of extended public keys, too', thorough, async () => {
  const before = await counters();
  const lostBefore = await lostKeys();
  const { watched } = await declareRestored(admin, fewKeys);
  expect(watched, 'with what follows in the newest epochs').toBeGreaterThan(watchedAtOnce);
  expect((await lostKeys()) - lostBefore).toBe(watchedAtOnce);
  const after = await counters();
  expect(after).not.toEqual(before);
});

test('a restore whose declaration was interrupted waits for the next one', thorough, async () => {
  const before = await counters();
  const interrupted = declareRestored(admin, {
    ...fewKeys,
    onProgress: () => {
      throw new Error('interrupted');
    },
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect((await readGate(admin)).state).toBe('extended_keys');
  const skipped = await counters();
  expect(skipped).not.toEqual(before);
  expect(await declareRestored(admin, fewKeys)).toMatchObject({ wasDetected: true });
  expect((await readGate(admin)).state).toBe('open');
  expect(await counters(), 'nothing is skipped twice').toEqual(skipped);
});

test('a second process that notices the same restore skips nothing again', thorough, async () => {
  const identity = () => db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
  await identity();
  expect(await detectRestore(admin, [], log)).toBe('extended_keys');
  const skipped = await counters();
  const remembered: Epoch[] = [];
  await take(remembered);
  const lost = { number: remembered[0]!.number + 7, mark: 3 };
  expect(await detectRestore(admin, [lost], log)).toBe('production');
  await identity();
  expect(await detectRestore(admin, [], log)).toBe('production');
  expect(await counters()).toEqual(skipped);
  await declareRestored(admin, fewKeys);
  errors.length = 0;
});
