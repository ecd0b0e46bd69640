import { expect, test } from 'vitest';
import { type Network, resolveNetworks } from '../../src/core/registry/networks.ts';
import { sweep } from '../../src/workers/sweeper.ts';
import { startWatchers } from '../../src/workers/watcher.ts';
import { byContract } from '../chains/sentByContract.ts';
import { eventually } from '../support/until.ts';
import { startQuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

const networks: readonly Network[] = resolveNetworks({ environment: 'sandbox', configured: {}, devChain: null });

test('after an outage of hours, no payment expires before its address is read', async () => {
  const quiet = await startQuietScene();
  const { db } = quiet.scene.admin;
  let whileRead = async (): Promise<void> => {};
  const watched = await startWatchedChain(quiet, {
    nodes: [
      upstream => async (method, params) => {
        if (method === 'eth_call' && (params[0] as { to?: string }).to === undefined) await whileRead();
        return upstream(method, params);
      },
    ],
  });
  const { chain, caip2, context, driver } = watched;
  const payments = await watched.payments(1_200);
  await chain.mine(20);
  await watched.read();
  const [first, last] = [payments[0]!, payments.at(-1)!];
  await chain.block(byContract(first.address, 7n), byContract(last.address, 7n));
  await db.script(`
    update chains set caught_up_at = clock_timestamp() - interval '3 hours',
      coins_caught_up_at = clock_timestamp() - interval '3 hours' where caip2 = '${caip2}';
    update payments set time_ended_at = clock_timestamp() - interval '2 hours',
      wake_at = clock_timestamp() - interval '2 hours' where caip2 = '${caip2}'`);
  const shown = (id: string) =>
    quiet.read(
      `select status, amount_received::text as received, expired_unread as unread from payments where id = '${id}'`,
    );
  const unread = async (): Promise<unknown[]> => quiet.read('select 1 as one from payments where expired_unread');
  const atReads: unknown[] = [];
  // What another process does while the balances are being read.
  whileRead = async () => {
    await sweep(context);
    atReads.push(await unread());
  };
  const watchers = startWatchers(context, [{ caip2, networks: [networks[0]!], driver }], 'test');
  try {
    await eventually(async () => {
      await sweep(context);
      for (const { id } of [first, last])
        expect(await shown(id)).toEqual([{ status: 'expired', received: '7', unread: false }]);
    });
  } finally {
    await watchers.stop();
  }
  expect(atReads.length).toBeGreaterThan(0);
  expect(atReads.flat()).toEqual([]);
  expect(await unread()).toEqual([]);
});
