import { beforeAll, describe, expect, test } from 'vitest';
import type { Written } from '../api/listingScene.ts';
import type { FaultProxy } from '../chains/faultProxy.ts';
import { byContract } from '../chains/sentByContract.ts';
import { type CoinScene, coin, startCoinScene } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const prepare = async (): Promise<CoinScene> => {
  const scene = await startCoinScene(quiet);
  return scene;
};

describe('a chain that rests', () => {
  test('has all its coin found in one turn, in whichever blocks it came', async () => {
    const { chain, turn, payments, transfers } = await prepare();
    // Each payment asks for one unit more than the one before. These two ask for more than arrives, so they stay open.
    const [first, second] = (await payments(100)).slice(-2);
    await chain.mine(20);
    await turn();
    const from = await chain.head();
    await chain.block(byContract(first!.address, 1n));
    await chain.mine(3);
    await chain.block(byContract(first!.address, 2n), byContract(first!.address, 3n), byContract(second!.address, 4n));
    await chain.block({ to: first!.address, value: 5n }, byContract(first!.address, 6n));
    await chain.block(byContract(second!.address, 7n));
    await chain.mine(5);
    await chain.block(byContract(first!.address, 8n));
    await turn();
    const found = [
      [coin(from + 1, 1), coin(from + 5, 5), coin(from + 6, 6), coin(from + 6, 5), coin(from + 13, 8)],
      [coin(from + 5, 4), coin(from + 7, 7)],
    ];
    expect(await transfers(first!)).toEqual(found[0]);
    expect(await transfers(second!)).toEqual(found[1]);
    await turn();
    expect(await transfers(first!)).toEqual(found[0]);
  });

  test('is looked at again after a turn that failed at its very beginning', async () => {
    const watched = await prepare();
    const [proxy] = watched.proxies as [FaultProxy];
    const { payment, paidAt } = await watched.paidOnce();
    const { head, begunAt } = await watched.read();
    proxy.set({ serverError: 1 });
    await watched.scan(head, begunAt, watched.signal);
    expect(await watched.transfers(payment)).toEqual([]);
    proxy.set({});
    await watched.scan(head, begunAt, watched.signal);
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('is not taken for looked at when a block came in the middle of a round', async () => {
    const watched = await prepare();
    const { chain, turn, transfers } = watched;
    // One page holds 2,000, so a round takes two turns.
    const all = (await watched.payments(2_001)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const [first, last] = [all[0]!, all.at(-1)!];
    await chain.mine(20);
    await turn();
    await chain.block(byContract(first.address, 7n), byContract(last.address, 8n));
    const paidAt = await chain.head();
    await turn();
    expect(await transfers(last)).toEqual([coin(paidAt, 8)]);
    expect(await transfers(first), 'its page was looked at before').toEqual([]);
    // No more blocks arrive.
    const before = await watched.caughtUpAt();
    await turn();
    expect(await transfers(first)).toEqual([coin(paidAt, 7)]);
    expect(await watched.caughtUpAt(), 'one of two pages is no round').toEqual(before);
    await turn();
    expect((await watched.caughtUpAt())!.getTime()).toBeGreaterThan(before!.getTime());
  });
});

describe('a payment that is closed', () => {
  /** Paid in full by a plain transaction, and final. */
  const completed = async (watched: CoinScene) => {
    const [payment] = await watched.payments(1);
    await watched.chain.mine(20);
    await watched.turn();
    await watched.chain.block({ to: payment!.address, value: 1n });
    const paidAt = await watched.chain.head();
    await watched.chain.mine(3);
    await watched.turn();
    return { payment: payment!, paidAt };
  };

  test('is not among the open ones: coin of a contract is left to the slower scan, a plain transaction is not', async () => {
    const watched = await prepare();
    const { payment, paidAt } = await completed(watched);
    await watched.chain.block(byContract(payment.address, 7n));
    await watched.chain.block({ to: payment.address, value: 2n });
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 1), coin(paidAt + 5, 2)]);
  });

  test('is looked at again when a reorg has opened it', async () => {
    const watched = await prepare();
    const { payment, paidAt } = await completed(watched);
    await watched.chain.rewind(paidAt - 1);
    await watched.chain.block(byContract(payment.address, 7n));
    await watched.chain.mine(6);
    await watched.turn();
    expect(await watched.transfers(payment)).toEqual([coin(paidAt, 7)]);
  });

  test('by its time is looked at again where a reorg took coin that a contract had sent', async () => {
    const watched = await prepare();
    const { chain, turn, transfers } = watched;
    const [kept, empty] = (await watched.payments(100)).slice(-2) as [Written, Written];
    await chain.mine(20);
    await turn();
    const from = await chain.head();
    await chain.block(byContract(kept.address, 7n));
    await chain.mine(2);
    await turn();
    expect(await transfers(kept)).toEqual([coin(from + 1, 7)]);
    const toExpired = `update payments set status = 'expired' where caip2 = '${watched.caip2}'`;
    await quiet.scene.admin.db.script(toExpired);
    await chain.rewind(from);
    await chain.mine(1);
    await chain.block(byContract(kept.address, 7n), byContract(empty.address, 7n));
    await chain.mine(5);
    await turn();
    expect(await transfers(kept)).toEqual([coin(from + 2, 7)]);
    expect(await transfers(empty)).toEqual([]);
  });
});
