import { beforeAll, expect, test } from 'vitest';
import type { WatchedBlock } from '../../src/core/chain.ts';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { readGenuineCoins } from '../../src/engine/chain/genuineCoins.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import { readAgain } from '../../src/storage/chain/addressChecks.ts';
import type { Lease } from '../../src/storage/chain/chains.ts';
import type { Written } from '../api/listingScene.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const forwardIn = (block: WatchedBlock, from: string): WatchedBlock => ({
  ...block,
  forwards: [{ key: `${block.hash}:forward`, txHash: block.hash, from, contract: null, amount: 5n, verified: true }],
});
const held = async ({ id }: Written): Promise<unknown> => {
  const { db, vault } = quiet.context;
  const [read] = await readGenuineCoins(quiet.context, caip2, () => readAgain(db, vault, caip2, [id]));
  return { isForged: read!.isForged, held: read!.changes.reduce((sum, { amount }) => sum + Number(amount), 0) };
};

/** Coin that came in block 3 was swept in block 4, and after a reorganization again in block 5. */
const sweptTwice = async (): Promise<Written> => {
  lease = await beginAnew(quiet.context.db);
  const [coin] = (await quiet.overdue(1)).written as [Written];
  const [one, two, three, four] = makeBlocks(genesis, 'a', 5, {
    2: [{ to: coin.address, amount: 5n, contract: null }],
  }) as [WatchedBlock, WatchedBlock, WatchedBlock, WatchedBlock];
  await applyBlocks(quiet.context, lease, stepOf([one, two, three, forwardIn(four, coin.address)]));
  expect(await held(coin)).toEqual({ isForged: false, held: 0 });
  const [first, ...others] = makeBlocks(three, 'b', 3) as [WatchedBlock, ...WatchedBlock[]];
  const again = others.map(each => forwardIn(each, coin.address)).slice(0, 1);
  await applyBlocks(quiet.context, lease, stepOf([first, ...again], three));
  expect(await held(coin)).toEqual({ isForged: false, held: 0 });
  return coin;
};
const putBack = (): Promise<void> =>
  quiet.scene.tamper(`update blocks set canonical = false where number = 3 and canonical;
    update blocks set canonical = true where hash = '${hashOf('a', 3)}'`);

test('an address is forged once somebody puts back the block of a forward that a reorganization took', async () => {
  const coin = await sweptTwice();
  await putBack();
  expect(await held(coin)).toEqual({ isForged: true, held: -5 });
});

test('also if the reorganization was before there were branches', async () => {
  const coin = await sweptTwice();
  await quiet.scene.tamper(`set session_replication_role = replica; delete from chain_branches;
    update chains set branch = null; update blocks set branch = null; set session_replication_role = origin`);
  const tables = new Set(['chains', 'blocks']);
  await sealRows(quiet.context, { all: true, tables: name => tables.has(name) });
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks({ number: 4, hash: hashOf('b', 4) }, 'b', 1)));
  expect(await held(coin)).toEqual({ isForged: false, held: 0 });
  await putBack();
  expect(await held(coin)).toEqual({ isForged: true, held: -5 });
});
