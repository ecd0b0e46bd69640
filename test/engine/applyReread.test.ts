import { beforeAll, expect, test } from 'vitest';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { applyReread } from '../../src/engine/chain/applyReread.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, contract, genesis, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

test('a missed transfer whose funds were swept is found: what the sweep moved is no longer unexplained', async () => {
  const lease = await beginAnew(quiet.context.db);
  const { account, written } = await quiet.overdue(1, contract);
  const { id, address } = written[0]!;
  const records = async () => ({
    payment: await quiet.read(
      `select amount_confirmed::int as confirmed, amount_forwarded::int as forwarded from payments where id = '${id}'`,
    ),
    found: await quiet.read(`select amount::int as amount from found_funds where payment_id = '${id}'`),
    held: await quiet.read(`select sum(amount)::int as amount from holding_deltas where account_id = '${account.id}'`),
  });
  const complete = makeBlocks(genesis, 'a', 8, { 2: [{ to: address, amount: 1n }] });
  const swept = complete.map(block => ({
    ...block,
    movements: [],
    forwards:
      block.number === 3
        ? [{ key: 'sweep', txHash: block.hash, from: address, contract, amount: 1n, verified: true }]
        : [],
  }));
  await applyBlocks(quiet.context, lease, stepOf(swept.slice(0, 1)));
  await applyBlocks(quiet.context, lease, stepOf(swept.slice(1)));
  expect(await records()).toEqual({
    payment: [{ confirmed: 0, forwarded: 0 }],
    found: [{ amount: 1 }],
    held: [{ amount: null }],
  });

  expect(await applyReread(quiet.context, lease, complete.slice(2, 3))).toBe(1);
  expect(await records()).toEqual({
    payment: [{ confirmed: 1, forwarded: 1 }],
    found: [{ amount: 0 }],
    held: [{ amount: 0 }],
  });
});
