import { beforeAll, describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/chain.ts';
import { correctLedger } from '../../src/engine/settlement/correctLedger.ts';
import { listDifferences } from '../../src/storage/settlement/differences.ts';
import { createExpiryReader } from '../../src/workers/expiryReader.ts';
import { sweep } from '../../src/workers/sweeper.ts';
import type { Written } from '../api/listingScene.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import { byContract } from '../chains/sentByContract.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { countBalanceReads, startWatchedChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const [minuteMs, hourMs] = [60_000, 3_600_000];

const prepare = async (options: Parameters<typeof startWatchedChain>[1] = {}) => {
  const watched = await startWatchedChain(quiet, options);
  const { context, driver, lease, host, signal, caip2 } = watched;
  let nowMs = 0;
  const read = createExpiryReader({ context, driver, lease }, { now: () => nowMs });
  const { db } = quiet.scene.admin;
  return {
    ...watched,
    /** Does what an idle watcher and the sweeper do, with nothing left to scan, or with balances that cannot be read. */
    async turn({ coinsStuck = false } = {}): Promise<void> {
      const { head, begunAt } = await watched.read();
      await read(head, begunAt, host, signal);
      const coinsAt = new Date(begunAt.getTime() - (coinsStuck ? 2 * hourMs : 0));
      await db.script(`update chains set caught_up_at = '${begunAt.toISOString()}',
        coins_caught_up_at = '${coinsAt.toISOString()}' where caip2 = '${caip2}'`);
      await sweep(context);
    },
    readAt: (head: Block, upTo: Date) => read(head, upTo, host, signal),
    /** Passes time for the reader. */
    pass(ms: number): void {
      nowMs += ms;
    },
    /** Ends the time of a payment as the sandbox does, so long ago. */
    async end({ id }: Written, agoMs: number): Promise<void> {
      const at = `clock_timestamp() - ${agoMs / 1000} * interval '1 second'`;
      await db.script(`update payments set time_ended_at = ${at}, wake_at = ${at} where id = '${id}'`);
    },
    async shown({ id }: Written) {
      const [row] = await quiet.read<{ status: string; received: string; unread: boolean; exception: string | null }>(
        `select status, amount_received::text as received, expired_unread as unread, exception from payments
          where id = '${id}'`,
      );
      return row!;
    },
    unexplained: async ({ id }: Written) =>
      (await listDifferences(context.db, 100)).filter(({ paymentId }) => paymentId === id),
  };
};
type Scene = Awaited<ReturnType<typeof prepare>>;

/** A token payment, the last of many so that little funds do not complete it, in time for a transfer of 7. */
const overlooked = async (watched: Scene): Promise<{ payment: Written; paidAt: number }> => {
  const payment = (await watched.payments(100, 'USDC')).at(-1)!;
  await watched.chain.mine(20);
  await watched.read();
  watched.overlooked.add(payment.address);
  await watched.chain.block(watched.chain.mint(payment.address, 7n));
  const paidAt = await watched.chain.head();
  await watched.chain.mine(3);
  await watched.read();
  expect(await watched.transfers(payment)).toEqual([]);
  return { payment, paidAt };
};

const alarm = 'an address holds funds that no transfer explains';

describe('before a payment expires unpaid', () => {
  test('its address is read, and what a node left out is found, credited and in time', async () => {
    const watched = await prepare();
    const { payment, paidAt } = await overlooked(watched);
    watched.overlooked.clear();
    await watched.end(payment, -1_000);
    await watched.end(payment, 0);
    await watched.turn();
    expect(await watched.transfers(payment)).toMatchObject([{ blockNumber: paidAt, amount: '7', verified: true }]);
    expect(await watched.shown(payment)).toMatchObject({ status: 'expired', received: '7', unread: false });
    expect(await watched.unexplained(payment)).toEqual([]);
    expect(watched.said('transfers were found that had been missed')).toHaveLength(1);
  });

  test('what stays unexplained is shown and alarmed, never credited, and holds expiry for an hour', async () => {
    const watched = await prepare();
    const { payment } = await overlooked(watched);
    await watched.end(payment, minuteMs);
    await watched.turn();
    expect(await watched.shown(payment)).toEqual({ status: 'pending', received: '0', unread: false, exception: null });
    expect(await watched.unexplained(payment)).toMatchObject([{ amount: '7', contract: watched.chain.token }]);
    expect(watched.said(alarm)).toHaveLength(1);
    watched.pass(minuteMs);
    await watched.turn();
    expect(watched.said(alarm), 'told once').toHaveLength(1);

    await watched.end(payment, hourMs + 1_000);
    await watched.turn();
    expect(await watched.shown(payment)).toMatchObject({ status: 'expired', received: '0', unread: true });

    // The node is repaired, and the address is looked at again.
    watched.overlooked.clear();
    watched.pass(10 * minuteMs);
    await watched.turn();
    expect(await watched.transfers(payment)).toMatchObject([{ amount: '7' }]);
    expect(await watched.unexplained(payment)).toEqual([]);
    expect(await watched.shown(payment)).toMatchObject({ received: '7', unread: false });
  });

  test('a node that cannot read balances holds expiry for an hour at most; then the payment is flagged', async () => {
    let isRefusing = false;
    const refusing =
      (upstream: Upstream): Upstream =>
      async (method, params) =>
        isRefusing && method === 'eth_call'
          ? { error: { code: -32000, message: 'no state' } }
          : upstream(method, params);
    const watched = await prepare({ nodes: [refusing] });
    const [token, coin] = [(await watched.payments(1, 'USDC'))[0]!, (await watched.payments(1, 'ETH'))[0]!];
    await watched.chain.mine(20);
    await watched.read();
    isRefusing = true;
    for (const payment of [token, coin]) await watched.end(payment, hourMs - minuteMs);
    await watched.turn({ coinsStuck: true });
    for (const payment of [token, coin]) expect((await watched.shown(payment)).status).toBe('pending');
    for (const payment of [token, coin]) await watched.end(payment, hourMs + 1_000);
    await watched.turn({ coinsStuck: true });
    for (const payment of [token, coin]) {
      expect(await watched.shown(payment)).toMatchObject({ status: 'expired', unread: true });
    }
    isRefusing = false;
    watched.pass(10 * minuteMs);
    await watched.turn();
    for (const payment of [token, coin]) expect((await watched.shown(payment)).unread).toBe(false);
  });

  test('at an address of an extended public key it is shown and alarmed, and nothing waits for it', async () => {
    const watched = await prepare();
    const { payment } = await overlooked(watched);
    await quiet.tamper(payment.id, `wallet_kind = 'xpub'`);
    await watched.end(payment, minuteMs);
    await watched.turn();
    expect(await quiet.read(`select awaits_read from payments where id = '${payment.id}'`)).toEqual([
      { awaits_read: false },
    ]);
    expect(await watched.unexplained(payment)).toMatchObject([{ amount: '7', contract: watched.chain.token }]);
    expect(watched.said(alarm)).toHaveLength(1);
  });

  test('coin above a baseline that cannot be searched is a difference that an operator can resolve', async () => {
    let isPruned = false;
    const pruned =
      (upstream: Upstream): Upstream =>
      async (method, params) =>
        isPruned && method === 'eth_getBlockByNumber' && params[0] !== 'latest'
          ? { error: { code: -32000, message: 'pruned history unavailable' } }
          : upstream(method, params);
    const watched = await prepare({ nodes: [pruned] });
    const payment = (await watched.payments(100)).at(-1)!;
    await watched.chain.mine(20);
    await watched.read();
    const { db } = quiet.scene.admin;
    await quiet.tamper(payment.id, `wallet_kind = 'xpub'`);
    await db.script(`insert into address_baselines (caip2, address, amount, block_number, read_at)
      select '${watched.caip2}', address, 3, 1, created_at from payments where id = '${payment.id}'`);
    await watched.chain.block(byContract(payment.address, 10n));
    const { head, begunAt } = await watched.read();
    // No stored block below the head, and no node that has one.
    await db.script(`delete from blocks b where caip2 = '${watched.caip2}' and b.number < ${head.number}`);
    isPruned = true;
    await watched.end(payment, minuteMs);
    await watched.readAt(head, begunAt);
    const [difference] = await watched.unexplained(payment);
    expect(difference).toMatchObject({ amount: '7', contract: null });
    const decision = { by: 'Ada', reason: 'A contract sent it.' };
    await correctLedger(quiet.scene.admin, { id: difference!.id, amount: 7n }, decision);
    expect(await watched.unexplained(payment)).toEqual([]);
  });

  test('a token that cannot be read holds up its own payments only', async () => {
    let refused = '';
    const refusing =
      (upstream: Upstream): Upstream =>
      async (method, params) =>
        refused !== '' && method === 'eth_call' && JSON.stringify(params).toLowerCase().includes(refused)
          ? { error: { code: -32000, message: 'execution reverted' } }
          : upstream(method, params);
    const watched = await prepare({ nodes: [refusing] });
    const [token, coin] = [(await watched.payments(1, 'USDC'))[0]!, (await watched.payments(1, 'ETH'))[0]!];
    await watched.chain.mine(20);
    await watched.read();
    refused = watched.chain.token.slice(2).toLowerCase();
    for (const payment of [token, coin]) await watched.end(payment, minuteMs);
    await watched.turn();
    expect(await watched.shown(coin)).toMatchObject({ status: 'expired', unread: false });
    expect((await watched.shown(token)).status).toBe('pending');
  });

  test('native coin that a contract sent to the address of a token payment is a stray', async () => {
    const watched = await prepare();
    const [payment] = await watched.payments(1, 'USDC');
    await watched.chain.mine(20);
    await watched.chain.block(byContract(payment!.address, 9n));
    await watched.read();
    await watched.end(payment!, 0);
    await watched.turn();
    expect(await watched.transfers(payment!)).toMatchObject([{ amount: '9', isCoin: true }]);
    const told = `select type from events where payment_id = '${payment!.id}' order by sequence`;
    expect(await quiet.read(told)).toContainEqual({ type: 'payment.stray' });
  });

  test('with two nodes, coin that one of them does not show is not expired in silence', async () => {
    const poor =
      (upstream: Upstream): Upstream =>
      async (method, params) => {
        const outcome = await upstream(method, params);
        if (method !== 'eth_call' || 'error' in outcome) return outcome;
        return { result: (outcome.result as string).replace(/9$/, '0') };
      };
    const watched = await prepare({ nodes: [poor, upstream => upstream] });
    const [payment] = await watched.payments(1);
    await watched.chain.mine(20);
    await watched.chain.block(byContract(payment!.address, 9n));
    await watched.read();
    await watched.end(payment!, 0);
    await watched.turn();
    expect(await watched.shown(payment!)).toMatchObject({ status: 'pending', received: '0' });
    expect(await watched.unexplained(payment!)).toMatchObject([{ amount: '9', contract: null }]);
  });
});

test('a thousand expiring payments cost a node two calls for each of their tokens and two for native coin', async () => {
  const { counting, calls } = countBalanceReads();
  const watched = await prepare({ nodes: [counting] });
  await watched.payments(500, 'USDC');
  await watched.payments(500, 'ETH');
  await watched.chain.mine(20);
  await watched.read();
  await quiet.scene.admin.db.script(`update payments set time_ended_at = clock_timestamp(), wake_at = clock_timestamp()
    where caip2 = '${watched.caip2}'`);
  const before = calls();
  await watched.turn();
  expect(calls() - before).toBe(3);
  const left = `select count(*)::int as left from payments where caip2 = '${watched.caip2}' and awaits_read`;
  expect(await quiet.read(left)).toEqual([{ left: 0 }]);
});
