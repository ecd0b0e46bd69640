import { beforeAll, describe, expect, test } from 'vitest';
import { rawTransaction } from '../../src/local/devchain/rawTransaction.ts';
import { until } from '../support/until.ts';
import type { Contract } from './chainCalls.ts';
import { type Payment, startWatchScene, type WatchScene } from './watchScene.ts';

/**
 * On `base` payments become final so late that every reorg of these tests comes before; on `ethereum` after two blocks.
 */
const depth = 80;
let scene: WatchScene;
let usdc: string;
let payer: Contract;
beforeAll(async () => {
  const base = { rule: { kind: 'depth', depth } };
  scene = await startWatchScene({ configFile: { networks: { sandbox: { base } } } });
  usdc = await scene.token('base', 'USDC');
  payer = await scene.chain.deploy('ContractPayer');
  // Before any snapshot: a transaction that is mined again needs the tokens it spends.
  const [account] = await scene.chain.request<[string]>('eth_accounts');
  for (const slug of ['base', 'ethereum']) {
    await scene.chain.mint(await scene.token(slug, 'USDC'), account, 10n ** 15n);
  }
});

const whole = 25_000_000n;
const coins = { currency: 'ETH', amount: '0.01' };
const wei = 10n ** 16n;

/** The same signed transaction, to be mined again. */
const signed = async (hash: string): Promise<string> =>
  rawTransaction(await scene.chain.request('eth_getTransactionByHash', hash));

const expectEmpty = async (created: Payment): Promise<void> => {
  const payment = await scene.reach(created.id, 'pending');
  expect(payment).toEqual(created);
  expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming', 'reverted']);
  const last = (await scene.events(created.id)).at(-1)!.body;
  expect(last).toMatchObject({
    data: { status: 'pending', amountReceived: '0.00', transactions: [] },
    previous: { status: 'confirming', exception: null },
  });
};

describe('reorg: dropped', () => {
  test.each([1, 2, 7, 64])('a payment whose transaction a reorg of depth %d drops waits again', async blocks => {
    const created = await scene.calls.made();
    const before = await scene.chain.snapshot();
    await scene.chain.payToken(usdc, created.address, whole);
    await scene.chain.mine(blocks - 1);
    await scene.reach(created.id, 'confirming');
    await scene.processed();
    await scene.chain.revert(before);
    // Longer than the old branch, including its empty blocks.
    await scene.chain.mine(blocks + 6);
    await expectEmpty(created);
  });

  test('native coin that a contract sent is gone with its block', async () => {
    const created = await scene.calls.made(coins);
    const before = await scene.chain.snapshot();
    await payer.call('payCoins', [[created.address], [wei]], wei);
    await scene.reach(created.id, 'confirming');
    await scene.chain.revert(before);
    await scene.chain.mine(8);
    await expectEmpty(created);
    await scene.processed();
    expect(await scene.read(created.id)).toEqual(created);
  });

  test('a head that only moves down is no reorg', { tags: ['thorough'] }, async () => {
    const created = await scene.calls.made();
    const before = await scene.chain.snapshot();
    const { blockNumber } = await scene.chain.payToken(usdc, created.address, whole);
    // The last of its empty blocks; after that no block comes.
    await until(scene.chain.head, ({ number }) => number >= Number(blockNumber) + 5);
    await scene.reach(created.id, 'confirming');
    await scene.processed();
    await scene.chain.revert(before);
    const lower = await scene.chain.head();
    await until(
      () => scene.florin.client.call('GET', '/v1/networks/base'),
      ({ json }) => json.latestBlock === lower.number,
    );
    expect(await scene.read(created.id)).toMatchObject({ status: 'confirming', amountReceived: '25.00' });
    expect(await scene.kinds(created.id)).toEqual(['created', 'detected', 'confirming']);
    // Another block at a processed height is.
    await scene.chain.mine();
    await expectEmpty(created);
  });

  test('after completion it is reversed, and paid again it is completed again', async () => {
    const token = await scene.token('ethereum', 'USDC');
    const created = await scene.calls.made({ network: 'ethereum' });
    const before = await scene.chain.snapshot();
    await scene.chain.payToken(token, created.address, whole);
    const completed = await scene.reach(created.id, 'completed');
    await scene.chain.revert(before);
    await scene.chain.mine(8);
    const reversed = await scene.reach(created.id, 'reversed');
    expect(reversed).toMatchObject({
      exception: 'reorged',
      amountReceived: '0.00',
      amountConfirmed: '0.00',
      transactions: [],
      completedAt: completed.completedAt,
    });
    await scene.chain.payToken(token, created.address, whole);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
    const kinds = ['created', 'detected', 'confirming', 'completed', 'reversed', 'confirming', 'completed'];
    expect(await scene.kinds(created.id)).toEqual(kinds);
  });
});

describe('reorg: re-mined elsewhere', () => {
  test('the transaction counts once, in its new block', async () => {
    const created = await scene.calls.made();
    // The chain may mine empty blocks at any time, so that it may be higher by now.
    const { number } = await scene.chain.head();
    const before = await scene.chain.snapshot();
    const { transactionHash: hash } = await scene.chain.payToken(usdc, created.address, whole);
    const first = (await scene.reach(created.id, 'confirming')).transactions;
    const raw = await signed(hash);
    await scene.chain.revert(before);
    await scene.chain.mine(first[0].blockNumber - number + 3);
    await scene.chain.request('eth_sendRawTransaction', raw);
    const { blockNumber } = await scene.chain.request<{ blockNumber: string }>('eth_getTransactionByHash', hash);
    expect(Number(blockNumber)).toBeGreaterThan(first[0].blockNumber);
    const moved = await until(
      () => scene.read(created.id),
      ({ transactions }) => transactions[0]?.blockNumber === Number(blockNumber),
    );
    expect(moved).toMatchObject({ status: 'confirming', amountReceived: '25.00', transactions: [{ hash }] });
    expect(moved.transactions).toHaveLength(1);
    await scene.chain.mine(depth);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '25.00', amountConfirmed: '25.00' });
    expect((await scene.transfers(created.id)).map(({ canonical }) => canonical)).toEqual([false, true]);
  });

  test('native coin as well', async () => {
    const created = await scene.calls.made(coins);
    const before = await scene.chain.snapshot();
    const { transactionHash: hash } = await scene.chain.payCoin(created.address, wei);
    await scene.reach(created.id, 'confirming');
    const raw = await signed(hash);
    await scene.chain.revert(before);
    await scene.chain.mine(3);
    await scene.chain.request('eth_sendRawTransaction', raw);
    await scene.chain.mine(depth);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, amountReceived: '0.01', transactions: [{ hash }] });
  });

  test('other payments of the blocks that are made again keep what they have', async () => {
    const [lost, kept] = [await scene.calls.made(), await scene.calls.made()];
    const { transactionHash: gone } = await scene.chain.payToken(usdc, lost.address, whole);
    const { transactionHash: stays } = await scene.chain.payToken(usdc, kept.address, whole);
    await scene.reach(kept.id, 'confirming');
    await scene.reach(lost.id, 'confirming');
    await scene.chain.request('florin_undo', gone);
    await expectEmpty(lost);
    expect(await scene.read(kept.id)).toMatchObject({
      status: 'confirming',
      amountReceived: '25.00',
      transactions: [{ hash: stays }],
    });
    expect(await scene.kinds(kept.id)).toEqual(['created', 'detected', 'confirming']);
  });
});

describe('reorg: re-mined in the creation block', () => {
  test('funds in a block as low as the newest one at creation are counted', async () => {
    const before = await scene.chain.snapshot();
    await scene.chain.mine(10);
    await scene.processed();
    const newest = await scene.chain.head();
    const created = await scene.calls.made();
    await scene.chain.revert(before);
    const { blockNumber } = await scene.chain.payToken(usdc, created.address, whole);
    expect(Number(blockNumber)).toBeLessThanOrEqual(newest.number);
    await scene.chain.mine(12);
    const payment = await scene.reach(created.id, 'confirming');
    expect(payment.transactions).toMatchObject([{ blockNumber: Number(blockNumber), amount: '25.00' }]);
    await scene.chain.mine(depth);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ exception: null, amountReceived: '25.00' });
  });
});
