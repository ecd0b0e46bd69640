import { beforeAll, describe, expect, test } from 'vitest';
import { operatorActing } from '../../src/engine/audit/acting.ts';
import { actOnPayment } from '../../src/engine/payments/actOnPayment.ts';
import { perform } from '../../src/engine/perform.ts';
import { createClosedScanner } from '../../src/workers/closedScanner.ts';
import { createCoinScanner } from '../../src/workers/coinScanner.ts';
import type { Written } from '../api/listingScene.ts';
import { byContract, bySelfdestruct } from '../chains/sentByContract.ts';
import { coin } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { countBalanceReads, startWatchedChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const prepare = async () => {
  const { counting, calls } = countBalanceReads();
  const watched = await startWatchedChain(quiet, { nodes: [counting] });
  const { context, driver, lease, signal, caip2 } = watched;
  let nowMs = 0;
  const scan = createClosedScanner({ context, driver, lease }, { now: () => nowMs });
  const { db } = quiet.scene.admin;
  return {
    ...watched,
    calls,
    async turn(): Promise<void> {
      const { head } = await watched.read();
      await scan(head, signal);
      nowMs += 15_000;
    },
    /** Closes all payments of the chain so far, with a late window of a day. */
    close: (status: string) =>
      db.script(`alter table payments disable trigger payments_frozen;
        update payments set late_window_seconds = 86400, wake_at = null where caip2 = '${caip2}';
        alter table payments enable trigger payments_frozen;
        ${status === 'completed' ? `update payments set status = 'confirming' where caip2 = '${caip2}';` : ''}
        update payments set status = '${status}', completed_at = ${status === 'completed' ? 'now()' : 'null'},
          canceled_at = ${status === 'canceled' ? 'now()' : 'null'} where caip2 = '${caip2}'`),
    exceptionOf: async ({ id }: Written) =>
      (await quiet.read<{ exception: string }>(`select exception from payments where id = '${id}'`))[0]!.exception,
  };
};

describe('coin sent by contracts to payments that are closed', () => {
  test.each([
    ['expired', 'by a smart wallet', byContract],
    ['canceled', 'by a smart wallet', byContract],
    ['completed', 'by a smart wallet', byContract],
    ['expired', 'by selfdestruct', bySelfdestruct],
  ])('%s, %s: is seen', async (status, _, send) => {
    const watched = await prepare();
    const [payment] = (await watched.payments(100)).slice(-1);
    await watched.chain.mine(20);
    await watched.read();
    await watched.close(status);
    await watched.chain.block(send(payment!.address, 7n));
    const paidAt = await watched.chain.head();
    await watched.chain.mine(3);
    await watched.turn();
    expect(await watched.transfers(payment!)).toEqual([coin(paidAt, 7)]);
    if (status === 'canceled') expect(await watched.exceptionOf(payment!)).toBe('late');
  });

  test('of a token payment is a stray', async () => {
    const watched = await prepare();
    const [payment] = await watched.payments(1, 'USDC');
    await watched.chain.mine(20);
    await watched.read();
    await watched.close('expired');
    await watched.chain.block(byContract(payment!.address, 7n));
    await watched.turn();
    expect(await watched.transfers(payment!)).toMatchObject([{ amount: '7', isCoin: true }]);
    const told = `select type from events where payment_id = '${payment!.id}'`;
    expect(await quiet.read(told)).toContainEqual({ type: 'payment.stray' });
  });

  test('is read 500 balances a call, and not at all once the late window is over', async () => {
    const watched = await prepare();
    await watched.payments(501);
    await watched.chain.mine(20);
    await watched.read();
    await watched.close('expired');
    const before = watched.calls();
    await watched.turn();
    await watched.turn();
    expect(watched.calls() - before).toBe(2);
    await quiet.scene.admin.db.script(`alter table payments disable trigger payments_frozen;
      update payments set late_window_seconds = 0, expires_at = created_at + interval '1 millisecond'
        where caip2 = '${watched.caip2}';
      alter table payments enable trigger payments_frozen`);
    await watched.turn();
    await watched.turn();
    expect(watched.calls() - before, 'nothing more is asked').toBe(2);
    const left = `select count(*)::int as left from payments where caip2 = '${watched.caip2}' and watched`;
    expect(await quiet.read(left)).toEqual([{ left: 0 }]);
  });
});

test('cancel never waits for a node: what the watcher finds afterwards is late', async () => {
  const watched = await prepare();
  const [payment] = (await watched.payments(100)).slice(-1);
  await watched.chain.mine(20);
  await watched.read();
  await watched.chain.block(byContract(payment!.address, 7n));
  const paidAt = await watched.chain.head();
  watched.proxies[0]!.set({ silence: 1 });
  const [{ accountId }] = (await quiet.read(
    `select account_id as "accountId" from payments where id = '${payment!.id}'`,
  )) as [{ accountId: string }];
  const acting = operatorActing({ accountId, environment: 'sandbox' });
  await perform(watched.context, acting, null, actOnPayment(watched.context, payment!.id, { kind: 'cancel' }));
  watched.proxies[0]!.set({});
  await quiet.scene.admin.db.script(`alter table payments disable trigger payments_frozen;
    update payments set late_window_seconds = 86400 where id = '${payment!.id}';
    alter table payments enable trigger payments_frozen`);
  await watched.turn();
  expect(await watched.transfers(payment!)).toEqual([coin(paidAt, 7)]);
  expect(await watched.exceptionOf(payment!)).toBe('late');
});

test('findCoins searches back to the creation, so that coin in time is not called late', async () => {
  const watched = await prepare();
  const [payment] = (await watched.payments(100)).slice(-1);
  const scan = createCoinScanner(watched.context, watched.driver, watched.lease, 0);
  await watched.chain.mine(20);
  await watched.read();
  await watched.chain.block(byContract(payment!.address, 7n));
  const paidAt = await watched.chain.head();
  await watched.chain.mine(300);
  const { head, begunAt } = await watched.read();
  // Empty blocks that deep are not stored.
  await quiet.scene.admin.db.script(
    `delete from blocks where caip2 = '${watched.caip2}' and number < ${head.number - 256}`,
  );
  await scan(head, begunAt, watched.signal);
  expect(await watched.transfers(payment!)).toEqual([coin(paidAt, 7)]);
});
