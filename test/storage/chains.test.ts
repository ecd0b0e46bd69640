import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Tags } from '../../src/core/chain.ts';
import { insertBlocks, orphanBlocks, pruneBlocks } from '../../src/storage/chain/blocks.ts';
import {
  type ChainRow,
  haltChain,
  type Lease,
  moveChain,
  readChains,
  releaseLease,
  renewLease,
  resumeChain,
  takeLease,
  writeCoinsCaughtUp,
  writeIdle,
} from '../../src/storage/chain/chains.ts';
import { testVault } from '../support/testVault.ts';
import { openRows, type Rows } from './rows.ts';

const caip2 = 'eip155:1';
let rows: Rows;
beforeAll(async () => {
  rows = await openRows();
});
beforeEach(() => rows.run('delete from blocks; delete from chains'));

const take = (holder: string, seconds = 600): Promise<ChainRow | null> =>
  takeLease(rows.db, { caip2, holder, seconds });
const leaseOf = ({ fence }: ChainRow): Lease => ({ caip2, fence });
const chain = async (): Promise<ChainRow> => (await readChains(rows.db, [caip2]))[0]!;
const move = (...[lease, to, tags]: [Lease, { number: number; hash: string }, Tags]): Promise<void> =>
  rows.db.transaction(tx => moveChain(tx, lease, { ...to, branch: 1 }, tags));
const shown = { caip2, branch: 1, isShown: true };
const noTags = { safe: null, finalized: null, agreed: null };
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

describe('a lease', () => {
  test('is one holder’s until it ends, and each has a higher token', async () => {
    const first = (await take('one'))!;
    expect(await take('two')).toBe(null);
    expect((await chain()).leaseHolder).toBe('one');
    await rows.run(`update chains set lease_until = clock_timestamp() - interval '1 second'`);
    const second = (await take('two'))!;
    expect(second).toMatchObject({ leaseHolder: 'two' });
    expect(BigInt(second.fence)).toBe(BigInt(first.fence) + 1n);
    expect(await take('one')).toBe(null);
  });

  test('may be taken again by its own holder, who was killed, and by anybody once it is given back', async () => {
    const first = (await take('one'))!;
    const again = (await take('one'))!;
    expect(BigInt(again.fence)).toBe(BigInt(first.fence) + 1n);
    await releaseLease(rows.db, leaseOf(again));
    expect(await chain()).toMatchObject({ leaseHolder: null, leaseUntil: null });
    expect(await take('two')).toMatchObject({ leaseHolder: 'two' });
  });

  test('that has passed on does nothing more', async () => {
    const lost = leaseOf((await take('one'))!);
    const held = (await take('one'))!;
    await move(leaseOf(held), { number: 9, hash: '0x9' }, noTags);
    const before = await chain();
    expect(await renewLease(rows.db, lost, 6_000)).toBe(null);
    await releaseLease(rows.db, lost);
    await writeIdle(rows.db, lost, { safe: 1, finalized: 1, agreed: 1 }, at(1));
    await writeCoinsCaughtUp(rows.db, lost, at(1));
    await haltChain(rows.db, lost, 'not ours to say');
    expect(await chain()).toEqual(before);
    expect(await renewLease(rows.db, leaseOf(held), 6_000)).not.toBe(null);
    expect((await chain()).leaseUntil!.getTime()).toBeGreaterThan(before.leaseUntil!.getTime());
  });

  test('that was given back cannot be renewed', async () => {
    const lease = leaseOf((await take('one'))!);
    await releaseLease(rows.db, lease);
    expect(await renewLease(rows.db, lease, 600)).toBe(null);
  });
});

describe('how far a chain is read', () => {
  let lease: Lease;
  beforeEach(async () => {
    lease = leaseOf((await take('one'))!);
    await move(lease, { number: 100, hash: '0x100' }, noTags);
  });

  test('never goes back, whatever a later poll found', async () => {
    await writeIdle(rows.db, lease, noTags, at(10));
    await writeCoinsCaughtUp(rows.db, lease, at(20));
    for (const since of [null, at(5)]) await writeIdle(rows.db, lease, noTags, since);
    await writeCoinsCaughtUp(rows.db, lease, at(15));
    expect(await chain()).toMatchObject({ caughtUpAt: at(10), coinsCaughtUpAt: at(20) });
    await writeIdle(rows.db, lease, noTags, at(30));
    expect(await chain()).toMatchObject({ caughtUpAt: at(30), coinsCaughtUpAt: at(20) });
  });

  test('a tag that nobody gave is none, and one above what is read reaches as far as that', async () => {
    expect(await chain()).toMatchObject({ safeNumber: null, finalizedNumber: null, agreedNumber: null });
    await writeIdle(rows.db, lease, { safe: 101, finalized: 99, agreed: null }, null);
    const read = { safeNumber: 100, finalizedNumber: 99, agreedNumber: null };
    expect(await chain()).toMatchObject({ ...read, latestNumber: 100, startNumber: 100 });
    await move(lease, { number: 102, hash: '0x102' }, { safe: 103, finalized: 101, agreed: null });
    const moved = { safeNumber: 102, finalizedNumber: 101, agreedNumber: null };
    expect(await chain()).toMatchObject({ ...moved, latestNumber: 102, startNumber: 100 });
  });

  test('a halt stands until the operator’s word, which is kept until it is done', async () => {
    expect(await resumeChain(rows.db, caip2, null)).toBe(false);
    await haltChain(rows.db, lease, 'first');
    const { haltedAt } = await chain();
    await haltChain(rows.db, lease, 'second');
    expect(await chain()).toMatchObject({ haltedAt, haltReason: 'second' });
    expect(await resumeChain(rows.db, caip2, 90)).toBe(true);
    expect(await chain()).toMatchObject({ haltedAt: null, haltReason: null, rollbackTo: 90 });
  });
});

describe('blocks', () => {
  const block = (number: number, branch = 'a') => ({
    number,
    hash: `0x${branch}${number}`,
    parentHash: `0x${branch}${number - 1}`,
    timestamp: 1_767_225_600 + number,
    movements: [],
    forwards: [],
  });
  const run = (from: number, to: number, branch = 'a') =>
    Array.from({ length: to - from + 1 }, (_, index) => block(from + index, branch));
  const kept = async (): Promise<unknown[]> =>
    (await rows.read('select number::int as number from blocks order by 1')).map(({ number }) => number);
  beforeEach(async () => {
    const lease = leaseOf((await take('one'))!);
    await insertBlocks(rows.db, testVault, shown, run(1, 20));
    await move(lease, { number: 20, hash: '0xa20' }, noTags);
  });

  test('are forgotten below so many, the oldest first, but not those in which something is', async () => {
    await rows.run('update blocks set empty = false where number in (2, 5)');
    expect(await pruneBlocks(rows.db, 10, 4)).toBe(4);
    expect(await kept()).toEqual([2, 5, ...run(7, 20).map(({ number }) => number)]);
    expect(await pruneBlocks(rows.db, 10, 100)).toBe(3);
    // As far down as a reorg may reach: the newest, and ten below it.
    expect(await kept()).toEqual([2, 5, ...run(10, 20).map(({ number }) => number)]);
    expect(await pruneBlocks(rows.db, 10, 100)).toBe(0);
  });

  test('above a fork are orphaned, the fork is not, and there is one block a height', async () => {
    await orphanBlocks(rows.db, testVault, caip2, 15);
    await insertBlocks(rows.db, testVault, shown, run(16, 22, 'b'));
    const canonical = await rows.read('select hash from blocks where canonical order by number');
    expect(canonical.map(({ hash }) => hash)).toEqual([...run(1, 15), ...run(16, 22, 'b')].map(({ hash }) => hash));
    await expect(insertBlocks(rows.db, testVault, shown, [block(16)])).rejects.toMatchObject({ code: '23505' });
  });
});
