import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { WatchedBlock } from '../../src/core/chain.ts';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { applyCoins } from '../../src/engine/chain/applyCoins.ts';
import { LeaseLost } from '../../src/engine/chain/heldChain.ts';
import { pruneBlocks } from '../../src/storage/chain/blocks.ts';
import { type Lease, takeLease } from '../../src/storage/chain/chains.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, chainState, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
let payment: { id: string; address: string };
const main = makeBlocks(genesis, 'a', 6);
beforeAll(async () => {
  quiet = await startQuietScene();
});
beforeEach(async () => {
  lease = await beginAnew(quiet.context.db);
  payment = (await quiet.overdue(1)).written[0]!;
  // Like a driver: one block first.
  await applyBlocks(quiet.context, lease, stepOf(main.slice(0, 1)));
  await applyBlocks(quiet.context, lease, stepOf(main.slice(1)));
});

const coinIn = (block: WatchedBlock): WatchedBlock => {
  const key = `${block.hash}:delta:${payment.address}:1`;
  const movement = { key, txHash: null, from: null, to: payment.address, contract: null, amount: 1n, verified: true };
  return { ...block, movements: [movement], forwards: [] };
};
const status = async () =>
  (await quiet.read<{ status: string }>(`select status from payments where id = '${payment.id}'`))[0]!.status;
const kept = async (): Promise<string[]> =>
  (await quiet.read<{ hash: string }>('select hash from blocks where canonical order by number')).map(
    ({ hash }) => hash,
  );

test('coin is credited in its block, once', async () => {
  for (let times = 0; times < 2; times++) await applyCoins(quiet.context, lease, [coinIn(main[3]!)]);
  expect(await status()).toBe('completed');
  expect(await quiet.read('select amount::text from transfers')).toEqual([{ amount: '1' }]);
});

const made = (branch: string, number: number): WatchedBlock => ({ ...main[3]!, number, hash: hashOf(branch, number) });

test.each([
  ['a block that a reorg has taken', made('a', 4)],
  ['a block that was never there', made('x', 4)],
  ['a height that is not kept', made('a', 40)],
])('coin of %s is left for the next turn', async (_, block) => {
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(main[2]!, 'b', 4), main[2]!));
  const before = await chainState(quiet);
  await applyCoins(quiet.context, lease, [coinIn(block)]);
  expect(await chainState(quiet)).toEqual(before);
});

test('whoever lost the lease credits nothing', async () => {
  await takeLease(quiet.context.db, { caip2, holder: 'test', seconds: 600 });
  await expect(applyCoins(quiet.context, lease, [coinIn(main[3]!)])).rejects.toBeInstanceOf(LeaseLost);
  expect(await status()).toBe('pending');
});

test('a block with coin in it is kept, also when it is read again', async () => {
  await applyCoins(quiet.context, lease, [coinIn(main[3]!)]);
  // A reorg and back. The node shows nothing in that block.
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(main[2]!, 'b', 4), main[2]!));
  await applyBlocks(quiet.context, lease, stepOf(main.slice(3), main[2]!));
  // Coin found by a balance must be found again.
  expect(await status()).toBe('reversed');
  await pruneBlocks(quiet.context.db, 0, 100);
  expect(await kept()).toEqual([main[3]!.hash, main[5]!.hash]);
  await applyCoins(quiet.context, lease, [coinIn(main[3]!)]);
  expect(await status()).toBe('completed');
  expect(await sum()).toBe('1');
  await pruneBlocks(quiet.context.db, 0, 100);
  expect(await kept()).toEqual([main[3]!.hash, main[5]!.hash]);
});

const sum = async () =>
  (await quiet.read<{ sum: string }>('select sum(amount)::text from transfers where canonical and not superseded'))[0]!
    .sum;

test('coin found by the balance is not counted again when a reorg and back shows the transaction that was left out', async () => {
  await applyCoins(quiet.context, lease, [coinIn(main[3]!)]);
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(main[2]!, 'b', 4), main[2]!));
  const { hash } = main[3]!;
  const left = { key: `${hash}:tx:0`, txHash: hash, from: null, to: payment.address, contract: null, amount: 1n };
  const whole = { ...main[3]!, movements: [{ ...left, verified: true }] };
  await applyBlocks(quiet.context, lease, stepOf([whole, ...main.slice(4)], main[2]!));
  expect(await sum()).toBe('1');
});

test('coin found too high for want of older states, and lower after a reorg, is counted once when the reorg is undone', async () => {
  await applyCoins(quiet.context, lease, [coinIn(main[5]!)]);
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(main[4]!, 'b', 2), main[4]!));
  await applyCoins(quiet.context, lease, [coinIn(main[3]!)]);
  await applyBlocks(quiet.context, lease, stepOf(main.slice(5), main[4]!));
  expect(await sum()).toBe('1');
  expect(await quiet.read(`select amount_received::text as received from payments where id = '${payment.id}'`)).toEqual(
    [{ received: '1' }],
  );
});
