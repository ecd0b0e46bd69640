import { beforeAll, describe, expect, test } from 'vitest';
import { ledgerBalances } from '../../src/core/ledger.ts';
import { correctLedger } from '../../src/engine/settlement/correctLedger.ts';
import { readAgain } from '../../src/storage/chain/addressChecks.ts';
import { listDifferences } from '../../src/storage/settlement/differences.ts';
import { ledgerFaults, readLedger } from '../../src/storage/settlement/ledger.ts';
import { readReconciliation } from '../../src/storage/settlement/reconciliation.ts';
import { createReconciler } from '../../src/workers/reconciler.ts';
import type { Written } from '../api/listingScene.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import { byContract } from '../chains/sentByContract.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { countBalanceReads, startWatchedChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const prepare = async (options: Parameters<typeof startWatchedChain>[1] = {}, deepestReorg = 0) => {
  const watched = await startWatchedChain(quiet, options);
  const { context, driver, lease, host, signal, caip2 } = watched;
  let nowMs = 0;
  const reconcile = createReconciler({ context, driver, lease }, deepestReorg, { now: () => nowMs });
  const { db } = quiet.scene.admin;
  /** Does what an idle watcher does after 15 seconds. */
  const turn = async (): Promise<void> => {
    const { head } = await watched.read();
    nowMs += 15_000;
    await reconcile(head, host, signal);
  };
  const round = () => readReconciliation(db, caip2);
  return {
    ...watched,
    turn,
    round,
    /** Turns until a round is complete. Payments of other chains come first in the order of ids. */
    async wholeRound(): Promise<void> {
      const before = (await round())?.finishedAt?.getTime();
      do await turn();
      while ((await round())?.finishedAt?.getTime() === before);
    },
    /** Makes the next turn begin a round. */
    hourLater: () =>
      db.script(
        `update reconciliations set round_started_at = round_started_at - interval '1 hour' where caip2 = '${caip2}'`,
      ),
    differences: async () =>
      (await listDifferences(db, 100)).flatMap(({ caip2: on, paymentId, contract, amount }) =>
        on === caip2 ? [{ paymentId, contract, amount }] : [],
      ),
    /** Changes the recorded amount of a payment's only transfer, as nobody can but the owner of the tables. */
    seed: ({ id }: Written, change: number) =>
      db.script(`alter table transfers disable trigger transfers_frozen;
        update transfers set amount = amount + ${change} where payment_id = '${id}';
        alter table transfers enable trigger transfers_frozen`),
  };
};
type Scene = Awaited<ReturnType<typeof prepare>>;

/** A token payment, one of many so that little funds do not complete it, that received 7. */
const paid = async (watched: Scene): Promise<Written> => {
  const payment = (await watched.payments(100, 'USDC')).at(-1)!;
  await watched.chain.mine(20);
  await watched.chain.block(watched.chain.mint(payment.address, 7n));
  await watched.chain.mine(3);
  await watched.read();
  expect(await watched.transfers(payment)).toMatchObject([{ amount: '7' }]);
  return payment;
};

const [surplus, deficit] = [
  'an address holds funds that no transfer explains',
  'an address holds less than was recorded',
];

describe('a round over all forwarders', () => {
  test('finds nothing where the records are right, and is repeated an hour later', async () => {
    const watched = await prepare();
    const payment = await paid(watched);
    await watched.chain.block(byContract((await watched.payments(1))[0]!.address, 9n));
    await watched.turn();
    expect(await watched.round()).toMatchObject({ after: '', compared: 101, finishedCompared: 101 });
    expect(await watched.differences()).toEqual([]);
    const first = await watched.round();
    await watched.turn();
    expect(await watched.round(), 'not again within the hour').toMatchObject({ finishedAt: first!.finishedAt });
    await watched.seed(payment, 1);
    await watched.turn();
    expect(await watched.differences()).toEqual([]);
    await watched.hourLater();
    await watched.turn();
    expect(await watched.differences()).toEqual([
      { paymentId: payment.id, contract: watched.chain.token, amount: '-1' },
    ]);
  });

  test.each([
    [1, '-1', deficit],
    [-1, '1', surplus],
  ])('a difference of one base unit is reported once: %i recorded too much', async (change, amount, message) => {
    const watched = await prepare();
    const payment = await paid(watched);
    await watched.seed(payment, change);
    await watched.turn();
    const difference = { paymentId: payment.id, contract: watched.chain.token, amount };
    expect(await watched.differences()).toEqual([difference]);
    expect(watched.said(message)).toMatchObject([{ fields: { paymentId: payment.id, amount } }]);
    await watched.hourLater();
    await watched.turn();
    expect(await watched.differences()).toEqual([difference]);
    expect(watched.said(message)).toHaveLength(1);
    await watched.seed(payment, -change);
    await watched.hourLater();
    await watched.turn();
    expect(await watched.differences(), 'resolved once they agree').toEqual([]);
  });

  test('what was missed is found and credited: tokens by their blocks, coin by the balance', async () => {
    const watched = await prepare();
    const [token, coin] = [(await watched.payments(1, 'USDC'))[0]!, (await watched.payments(1))[0]!];
    await watched.chain.mine(20);
    await watched.read();
    watched.overlooked.add(token.address);
    await watched.chain.block(watched.chain.mint(token.address, 7n));
    const paidAt = await watched.chain.head();
    await watched.chain.block(byContract(coin.address, 9n));
    await watched.chain.mine(3);
    await watched.read();
    watched.overlooked.clear();
    await watched.turn();
    expect(await watched.transfers(token)).toMatchObject([{ blockNumber: paidAt, amount: '7', verified: true }]);
    expect(await watched.transfers(coin)).toMatchObject([{ blockNumber: paidAt + 1, amount: '9', isCoin: true }]);
    expect(await watched.differences()).toEqual([]);
  });

  test('a difference waits until its block is final, and is dropped with a block that a reorg removes', async () => {
    const watched = await prepare({}, 10);
    const payment = await paid(watched);
    await watched.seed(payment, 1);
    await watched.turn();
    await watched.chain.mine(9);
    await watched.turn();
    expect(await watched.differences()).toEqual([]);
    await watched.chain.mine(1);
    await watched.turn();
    expect(await watched.differences()).toMatchObject([{ amount: '-1' }]);

    await watched.seed(payment, 1);
    const before = await watched.chain.node.request<string>('evm_snapshot');
    await watched.chain.mine(2);
    await watched.hourLater();
    await watched.turn();
    await watched.chain.node.request('evm_revert', before);
    await watched.chain.block(watched.chain.mint(payment.address, 1n));
    await watched.chain.mine(12);
    await watched.turn();
    expect(await watched.differences(), 'the old one').toMatchObject([{ amount: '-1' }]);
  });

  test('nodes that do not agree about a balance report nothing', async () => {
    const poor =
      (upstream: Upstream): Upstream =>
      async (method, params) => {
        const outcome = await upstream(method, params);
        if (method !== 'eth_call' || 'error' in outcome) return outcome;
        return { result: (outcome.result as string).replace(/7$/, '0') };
      };
    const watched = await prepare({ nodes: [poor, upstream => upstream] });
    await paid(watched);
    await watched.turn();
    expect(await watched.differences()).toEqual([]);
    expect(await watched.round()).toMatchObject({ finishedCompared: 100 });
  });

  test('a thousand forwarders cost two calls for native coin and two for their token', async () => {
    const { counting, calls } = countBalanceReads();
    const watched = await prepare({ nodes: [counting] });
    await watched.payments(1_000, 'USDC');
    await watched.chain.mine(5);
    await watched.read();
    await watched.wholeRound();
    expect(await watched.round()).toMatchObject({ finishedCompared: 1_000 });
    expect(calls()).toBeGreaterThanOrEqual(4);
    expect(calls()).toBeLessThanOrEqual(6);
  });
});

test('an operator resolves a difference with an entry that is kept, and the ledger balances', async () => {
  const watched = await prepare();
  const { admin } = quiet.scene;
  const payment = await paid(watched);
  await watched.seed(payment, -2);
  await watched.wholeRound();
  const [difference] = (await listDifferences(admin.db, 100)).filter(({ paymentId }) => paymentId === payment.id);
  expect(difference).toMatchObject({ amount: '2' });
  const asked = { id: difference!.id, amount: 2n };
  await expect(correctLedger(admin, { ...asked, amount: 1n }, { by: 'Ada', reason: 'x' })).rejects.toThrow('is 2 base');
  const decision = { by: 'Ada', reason: 'The token pays interest.' };
  await expect(correctLedger(admin, asked, { ...decision, reason: ' ' })).rejects.toThrow('The reason');
  await correctLedger(admin, asked, decision);
  expect(await watched.differences()).toEqual([]);
  await expect(correctLedger(admin, asked, decision)).rejects.toThrow('no open difference');

  const scope = { accountId: difference!.accountId, environment: difference!.environment };
  const [token] = ledgerBalances(await readLedger(admin.db, scope));
  // The seeded fault is in the facts and not in the ledger, which had the whole sum before.
  expect(token!.balances).toMatchObject({ received: -7n, corrected: -2n, forwarders: 9n });
  const faults = (await ledgerFaults(admin.db)).filter(({ accountId }) => accountId === scope.accountId);
  expect(faults).toMatchObject([{ source: 'received', posted: '7', facts: '5' }]);
  const audit = `select action, subject, detail ->> 'amount' as amount, detail ->> 'reason' as reason from audit_log
    where account_id = '${scope.accountId}' and action = 'ledger.corrected'`;
  expect(await quiet.read(audit)).toEqual([
    { action: 'ledger.corrected', subject: payment.id, amount: '2', reason: decision.reason },
  ]);
  await expect(admin.db.script('delete from ledger_corrections')).rejects.toThrow('not allowed');
  await expect(admin.db.script('update ledger_corrections set amount = 1')).rejects.toThrow('not allowed');

  const [read] = await readAgain(admin.db, admin.vault, watched.caip2, [payment.id]);
  expect(read!.recorded, 'before a payment expires, its address is compared with the same records').toBe('7');
  await watched.hourLater();
  await watched.wholeRound();
  expect(await watched.differences(), 'the records agree with the balance').toEqual([]);
});
