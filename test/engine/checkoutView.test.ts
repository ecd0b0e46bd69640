import { beforeAll, expect, test } from 'vitest';
import { networksOf } from '../../src/cli/compose.ts';
import { checkoutState } from '../../src/core/checkoutView.ts';
import { formatAmount } from '../../src/core/money.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import { createCheckoutReader } from '../../src/engine/payments/readCheckout.ts';
import { writePayments } from '../api/listingScene.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { createFedChain, type FedChain } from './fedChain.ts';

let quiet: QuietScene;
let chain: FedChain;
beforeAll(async () => {
  quiet = await startQuietScene();
  chain = await createFedChain(quiet.context, 'eip155:31337');
  await chain.feed([[], []]);
});

const amount = 10_000n;
const coins = (units: bigint): string => formatAmount(units, 18);

const newPayment = async () => {
  const account = await quiet.scene.account();
  const wanted = { createdMs: Date.now(), currency: 'ETH', network: 'base', status: 'pending', amount } as const;
  const [payment] = await writePayments(quiet.scene, account, [wanted]);
  return { ...payment!, act: paymentCalls(quiet.scene, account).act };
};

/** The view in a process with the networks of a new installation. */
const viewOf = async (id: string) => {
  const networks = networksOf(quiet.scene.config, null);
  const directory = createNetworkDirectory(quiet.context.db, networks, () => performance.now());
  const reader = createCheckoutReader({ ...quiet.context, networks: directory });
  return (await reader.read({ environment: 'sandbox', id })).view;
};

/** The newest block was mined an hour ago, and the payment's time ended between then and now. */
const endTimeAfterNewest = async (id: string): Promise<void> => {
  const { hash } = chain.blocks.at(-1)!;
  await quiet.context.db.script(`update blocks set timestamp = timestamp - interval '1 hour' where hash = '${hash}'`);
  await quiet.tamper(id, `time_ended_at = clock_timestamp() - interval '30 minutes'`);
};

test('what is missing is asked for, and nothing once it has come', async () => {
  const { id, address: to } = await newPayment();
  expect(await viewOf(id)).toMatchObject({ isPayable: true, baseUnits: '10000', amountRemaining: coins(amount) });
  await chain.feed([[{ to, amount: 4_000n }]]);
  expect(await viewOf(id)).toMatchObject({ isPayable: true, baseUnits: '6000', amountRemaining: coins(6_000n) });
  await chain.feed([[{ to, amount: 6_000n }]]);
  const { isPayable, baseUnits, amountRemaining, paymentUri } = await viewOf(id);
  expect([isPayable, baseUnits, amountRemaining]).toEqual([false, '0', '0']);
  expect(paymentUri).toMatch(/value=0$/);
});

test('dust of a stranger changes nothing for the payer', async () => {
  const { id, address: to } = await newPayment();
  await quiet.tamper(id, 'dust_floor = 1000');
  const before = await viewOf(id);
  await chain.feed([[{ to, amount: 99n }]]);
  expect(await viewOf(id)).toEqual(before);
  await chain.feed([[{ to, amount: 1n }]]);
  expect(await viewOf(id)).toMatchObject({ amountReceived: coins(100n), baseUnits: '9900', exception: 'underpaid' });
});

test('what came too late in full is not asked for again while the payment is still pending', async () => {
  const { id, address: to } = await newPayment();
  await endTimeAfterNewest(id);
  await chain.feed([[{ to, amount }]]);
  const view = await viewOf(id);
  expect(view).toMatchObject({ status: 'pending', exception: 'late', isPayable: false, baseUnits: '0' });
  expect([view.amountLate, checkoutState(view, 0)]).toEqual([coins(amount), 'expiredWithFunds']);
});

test('of what came, the part that came too late is told apart', async () => {
  const { id, address: to } = await newPayment();
  await chain.feed([[{ to, amount: 4_000n }]]);
  expect((await viewOf(id)).amountLate).toBe(coins(0n));
  await endTimeAfterNewest(id);
  await chain.feed([[{ to, amount: 6_000n }]]);
  await quiet.caughtUp();
  await chain.feed([[{ to, amount: 1n }]]);
  const view = await viewOf(id);
  expect(view).toMatchObject({ status: 'expired', exception: 'late', isPayable: false });
  expect([view.amountReceived, view.amountLate]).toEqual([coins(10_001n), coins(6_001n)]);
});

test('with more transfers than are shown, nothing is said of their times', async () => {
  const { id, address: to } = await newPayment();
  await chain.feed([Array.from({ length: 101 }, () => ({ to, amount: 1n }))]);
  expect((await viewOf(id)).amountLate).toBe(null);
});

test('after a reorg, no more is asked for than the sum that was accepted', async () => {
  const { id, address: to, act } = await newPayment();
  const fork = chain.blocks.at(-1)!.number;
  await chain.feed([[{ to, amount: 4_000n }]]);
  expect((await act(id, 'resolve', { body: { action: 'accept' } })).json).toMatchObject({ status: 'confirming' });
  await chain.feed([[], []], fork);
  const view = await viewOf(id);
  expect(view).toMatchObject({ status: 'pending', amountReceived: coins(0n), baseUnits: '4000' });
  expect([view.isPayable, view.amountRemaining]).toEqual([true, coins(4_000n)]);
});

test('a payment whose network is not there any more cannot be paid', async () => {
  const { id } = await newPayment();
  const reader = createCheckoutReader(quiet.context);
  const { view } = await reader.read({ environment: 'sandbox', id });
  expect(view).toMatchObject({ status: 'pending', isPayable: false, baseUnits: '10000' });
});

test('nothing more is asked for where less is enough', async () => {
  const { id, address: to } = await newPayment();
  await quiet.tamper(id, 'tolerance_bps = 100');
  await chain.feed([[{ to, amount: 9_990n }]]);
  expect(await viewOf(id)).toMatchObject({ status: 'confirming', isPayable: false, baseUnits: '0' });
});

test('what is missing of an expired payment is told, and not to be paid any more', async () => {
  const { id, address: to } = await newPayment();
  await endTimeAfterNewest(id);
  await quiet.caughtUp();
  await chain.feed([[{ to, amount: 1n }]]);
  expect(await viewOf(id)).toMatchObject({ status: 'expired', isPayable: false, baseUnits: '9999' });
});

test('payers are sent back over https alone', async () => {
  const { id } = await newPayment();
  await quiet.tamper(id, `redirect_url = 'http://127.0.0.1/thanks'`);
  expect((await viewOf(id)).redirectUrl).toBe(null);
  await quiet.tamper(id, `redirect_url = 'https://127.0.0.1/thanks'`);
  expect((await viewOf(id)).redirectUrl).toBe('https://127.0.0.1/thanks');
});
