import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Lease, lockChain, moveChain, readChains, renewLease, takeLease } from '../../src/storage/chain/chains.ts';
import type { Database } from '../../src/storage/database.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { withTestSeals } from '../support/testVault.ts';

const caip2 = 'eip155:7';
const block = { number: 5, hash: '0x5' };
/** The seconds of a lease that ended a second ago. */
const over = -1;
const noTags = { safe: null, finalized: null, agreed: null };

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = withTestSeals(openTestDatabase(clone.url));
});
beforeEach(() => db.script('delete from chains'));

const take = async (holder: string, seconds: number): Promise<Lease | null> => {
  const row = await takeLease(db, { caip2, holder, seconds });
  return row && { caip2, fence: row.fence };
};
const move = (lease: Lease, to: typeof block): Promise<void> =>
  db.transaction(tx => moveChain(tx, lease, { ...to, branch: 1 }, noTags));
const rowOf = async () => (await readChains(db, [caip2]))[0]!;

test('whoever comes first has the chain until the lease is over', async () => {
  const first = await take('first', 60);
  expect(first).toEqual({ caip2, fence: '1' });
  expect(await take('second', 60)).toBeNull();
  expect(await take('first', over), 'the same holder, restarted').toEqual({ caip2, fence: '2' });
  expect(await take('second', 60)).toEqual({ caip2, fence: '3' });
  expect(await renewLease(db, first!, 60)).toBeNull();
});

test('of many who come at once to a chain that nobody has read, one has it', async () => {
  const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => take(`holder ${n}`, 60)));
  expect(taken.filter(lease => lease !== null)).toEqual([{ caip2, fence: '1' }]);
});

test('a chain that is being written to is not waited for', async () => {
  const lease = await take('first', over);
  await db.transaction(async tx => {
    expect(await lockChain(tx, lease!)).not.toBeNull();
    // The lease has ended. Waiting for the writer would hold a connection and block this test for ever.
    expect(await take('second', 60)).toBeNull();
  });
  expect(await take('second', 60)).toEqual({ caip2, fence: '2' });
});

test('a lease is not renewed while its chain is being written to, nor lost by that', async () => {
  const lease = await take('first', 60);
  await db.transaction(async tx => {
    await lockChain(tx, lease!);
    const { leaseUntil } = await rowOf();
    // A renewal that waits would wait for this transaction to end.
    expect(await renewLease(db, lease!, 3_600)).toMatchObject({ fence: '1', leaseHolder: 'first' });
    expect((await rowOf()).leaseUntil).toEqual(leaseUntil);
  });
  const { leaseUntil } = await rowOf();
  await renewLease(db, lease!, 3_600);
  expect((await rowOf()).leaseUntil!.getTime()).toBeGreaterThan(leaseUntil!.getTime());
});

test('what is written of a chain renews the lease of the one who writes', async () => {
  const lease = await take('first', over);
  await db.transaction(async tx => {
    await lockChain(tx, lease!);
    await moveChain(tx, lease!, { ...block, branch: 1 }, noTags);
  });
  expect(await rowOf()).toMatchObject({ latestNumber: 5, leaseHolder: 'first' });
  expect(await take('second', 60)).toBeNull();
});

test('it never shortens the lease, nor brings back one that was given up', async () => {
  const lease = await take('first', 3_600);
  const { leaseUntil } = await rowOf();
  await move(lease!, block);
  expect((await rowOf()).leaseUntil).toEqual(leaseUntil);
  await db.script('update chains set lease_holder = null, lease_until = null');
  await move(lease!, { number: 6, hash: '0x6' });
  expect(await rowOf()).toMatchObject({ latestNumber: 6, leaseHolder: null, leaseUntil: null });
});

test('one whose lease has passed on moves nothing', async () => {
  const old = await take('first', over);
  const lease = await take('second', 60);
  await move(lease!, block);
  const before = await rowOf();
  expect(await lockChain(db, old!)).toBeNull();
  await move(old!, { number: 6, hash: '0x6' });
  expect(await rowOf()).toEqual(before);
});
