// @module-tag thorough
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Epoch } from '../../src/core/epoch.ts';
import { silentLog } from '../../src/core/log.ts';
import { declareRestored, detectRestore, watchLostEpoch } from '../../src/engine/chain/restores.ts';
import { takeEpoch } from '../../src/storage/chain/restores.ts';
import { writePayments } from '../api/listingScene.ts';
import { startTestFlorin } from '../support/florin.ts';

vi.setConfig({ testTimeout: 60_000 });

const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
const { admin } = scene;
const { db } = admin;
const take = () => db.transaction(tx => takeEpoch(tx, { above: 0, mark: 5, holder: 'test' }));
const query = <T extends Record<string, unknown>>(text: string) => db.query<T>({ name: '', text });
const nowNumber = () => Math.floor((Date.now() - Date.UTC(2025, 0, 1)) / 1000);
const hourMs = 3_600_000;
const daysAgo = (days: number): number => Date.now() - days * 24 * hourMs;

describe('an epoch that an operator names', () => {
  test.each([
    ['with a digit too many', () => ({ number: nowNumber() * 10, mark: 1 })],
    ['of the last second that there is', () => ({ number: 2 ** 31 - 1, mark: 0 })],
    ['of the next hour', () => ({ number: nowNumber() + 3_600, mark: 0 })],
  ])('%s is refused', async (_, epochOf: () => Epoch) => {
    await expect(watchLostEpoch(admin, epochOf())).rejects.toThrow(
      'This epoch is in the future. Copy it from the log.',
    );
    expect(await query(`select number from derivation_epochs where holder = 'lost'`)).toEqual([]);
  });

  test('is refused if the database knows it as its own', async () => {
    const epoch = await take();
    await expect(watchLostEpoch(admin, epoch)).rejects.toThrow('This epoch is not lost: the database knows it.');
    const other = { number: epoch.number, mark: epoch.mark + 1 };
    await expect(watchLostEpoch(admin, other), 'of a copy that started in the same second').resolves.toBeTypeOf(
      'number',
    );
  });
});

test('lost epochs that an earlier version took from the future do not move new ones', async () => {
  const { number } = await take();
  const lost = [number + 1, number + 2, number + 3_600, 2 ** 31 - 1];
  await db.script(`insert into derivation_epochs (number, mark, holder)
    select unnest(array[${lost}]), 0, 'lost'`);
  const taken = [await take(), await take()].map(each => each.number);
  expect(Math.max(...taken)).toBeLessThan(number + 60);
  expect(taken[1]).toBeGreaterThan(taken[0]!);
  expect(lost).not.toContain(taken[0]);
});

describe('the chains are read again', () => {
  const since = async (): Promise<Date> =>
    (await query<{ at: Date }>('select from_time as at from rescans order by id desc limit 1'))[0]!.at;
  const createdAt = async (...times: number[]): Promise<void> => {
    const one = { currency: 'ETH', network: 'base', status: 'pending' } as const;
    await writePayments(
      scene,
      await scene.account(),
      times.map(createdMs => ({ ...one, createdMs })),
    );
  };
  const started = (ms: number) =>
    db.script(`insert into derivation_epochs (number, mark, holder, taken_at)
      select max(number) + 1, 0, 'test', '${new Date(ms).toISOString()}' from derivation_epochs where holder <> 'lost'`);
  const newest = daysAgo(3);

  const firstStart = new Date(daysAgo(9));
  // Two processes that started two hours ago, long after the first start.
  beforeEach(async () => {
    await db.script(`insert into chains (caip2, start_number, latest_number, latest_hash)
        values ('eip155:1', 1, 9, '0x9') on conflict do nothing;
      delete from derivation_epochs where holder <> 'lost';
      insert into derivation_epochs (number, mark, holder, taken_at) values (1, 0, 'test', '${firstStart.toISOString()}')`);
    await started(Date.now() - 2 * hourMs);
    await started(Date.now() - 1.5 * hourMs);
  });

  test('since the first start, if no payment is older than this run', async () => {
    await createdAt(Date.now() - hourMs);
    expect(await declareRestored(admin, { most: 0 })).toMatchObject({ since: firstStart });
  });

  /** A backup of three days ago, and payments that the processes have made since they started with it. */
  const backUp = () => createdAt(daysAgo(4), newest, Date.now() - 1.9 * hourMs, Date.now() - hourMs);

  test('since the newest payment before the processes of this run started', async () => {
    await backUp();
    expect(await declareRestored(admin, { most: 0 })).toMatchObject({ since: new Date(newest) });
    expect(await since()).toEqual(new Date(newest));
  });

  test('since the backup, if the operator says of when it is', async () => {
    await backUp();
    const backupAt = new Date(daysAgo(3.5));
    expect(await declareRestored(admin, { backupAt, most: 0 })).toMatchObject({ since: backupAt });
    expect(await since()).toEqual(backupAt);
  });

  test('since what was known when the restore was found, whatever has started and been made since', async () => {
    await backUp();
    await db.script(`update deployment set value = '1/1/1' where name = 'database_identity'`);
    await detectRestore(admin, [], silentLog);
    await db.script(`update derivation_epochs set taken_at = taken_at - interval '1 day' where number > 1`);
    await createdAt(Date.now() - hourMs);
    await started(Date.now());
    expect(await declareRestored(admin, { most: 0 })).toMatchObject({ wasDetected: true, since: new Date(newest) });
  });
});
