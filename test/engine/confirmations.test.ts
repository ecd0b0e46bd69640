import { beforeAll, expect, test } from 'vitest';
import { formatAmount } from '../../src/core/money.ts';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { readPayments } from '../../src/storage/payments/payments.ts';
import { createSequence, writePayments } from '../api/listingScene.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { createFedChain, type FedChain, type Sent } from './fedChain.ts';

let quiet: QuietScene;
let chain: FedChain;
beforeAll(async () => {
  quiet = await startQuietScene();
  chain = await createFedChain(quiet.context, 'eip155:31337');
  await chain.feed([[], []]);
});

const small = { current: 0, required: 2, rule: 'depth' };
const large = { current: 0, required: 30, rule: 'depth' };
const tiers = [
  { atLeast: '0', kind: 'depth', depth: small.required },
  { atLeast: '20000', kind: 'depth', depth: large.required },
];

const amount = 10_000n;
const newPayment = async () => {
  const account = await quiet.scene.account();
  const wanted = { createdMs: Date.now(), currency: 'ETH', network: 'base', status: 'pending', amount } as const;
  const [payment] = await writePayments(quiet.scene, account, [wanted]);
  await quiet.tamper(payment!.id, `tiers = '${JSON.stringify(tiers)}'`);
  return { ...payment!, scope: { accountId: account.id, environment: 'sandbox' } as const };
};
type Made = Awaited<ReturnType<typeof newPayment>>;

/** The confirmations in GET and in the newest event. */
const shown = async ({ id, scope }: Made) => {
  const [row] = await readPayments(quiet.context.db, [{ scope, id }]);
  return readShownRow(quiet.context, row!);
};
const told = async ({ id }: Made) => {
  const [event] = await quiet.read<{ body: string }>(
    `select body from events where payment_id = '${id}' and sequence > 1 order by sequence desc limit 1`,
  );
  return event && JSON.parse(event.body);
};

/** Computed from all transfers, oldest first: the depth of the block in which the sum was reached. */
const expected = (to: string) => {
  const { blocks } = chain;
  let [received, current] = [0n, 0];
  for (const [at, { sent }] of blocks.entries()) {
    for (const one of sent) if (one.to === to) received += one.amount;
    if (current === 0 && received >= amount) current = blocks.length - at;
  }
  const tier = received >= 20_000n ? large : small;
  return { amountReceived: formatAmount(received, 18), confirmations: { ...tier, current } };
};

const dust = (to: string, count: number, each: bigint): Sent[] =>
  Array.from({ length: count }, () => ({ to, amount: each }));

test('confirmations count from the block in which the amount was reached, however many transfers it took', async () => {
  const payment = await newPayment();
  const { address } = payment;
  await chain.feed([dust(address, 150, 40n), dust(address, 150, 40n), dust(address, 3, 1n)]);
  expect((await shown(payment)).transactions).toHaveLength(100);
  expect((await shown(payment)).confirmations).toEqual({ ...small, current: 2 });
  expect((await told(payment)).data.confirmations).toEqual({ ...small, current: 2 });
  await chain.feed([[], [], []]);
  expect((await shown(payment)).confirmations).toEqual({ ...small, current: 5 });
});

test('the tier is chosen by all that was received', async () => {
  const payment = await newPayment();
  await chain.feed([dust(payment.address, 500, 40n)]);
  const { confirmations, transactions } = await shown(payment);
  expect(confirmations).toEqual({ ...large, current: 1 });
  expect(new Set(transactions.map(({ status }: { status: string }) => status))).toEqual(new Set(['confirming']));
  await chain.feed([[]]);
  expect((await shown(payment)).transactions[0]!.status).toBe('confirming');
});

test('and a reorg that takes a part of them moves it', async () => {
  const payment = await newPayment();
  const { address } = payment;
  await chain.feed([dust(address, 200, 40n), dust(address, 150, 40n), []]);
  expect((await shown(payment)).confirmations).toEqual({ ...small, current: 2 });
  const fork = chain.blocks.at(-3)!.number;
  await chain.feed([[], [], [], []], fork);
  expect((await shown(payment)).confirmations).toEqual({ ...small, current: 0 });
  await chain.feed([dust(address, 200, 10n), []]);
  expect((await shown(payment)).confirmations).toEqual({ ...small, current: 2 });
});

const generated = async (seed: number): Promise<void> => {
  const random = createSequence(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const payments = [await newPayment(), await newPayment()];
  for (let turn = 0; turn < 20; turn++) {
    const lists = Array.from({ length: 1 + below(3) }, () =>
      payments.flatMap(({ address }) => (below(2) === 0 ? [] : dust(address, below(120), BigInt(1 + below(60))))),
    );
    const depth = below(4) === 0 ? 1 + below(6) : 0;
    const fork = depth === 0 ? undefined : chain.blocks.at(-1 - depth)!.number;
    // The driver never gives a new branch that is shorter than the old one.
    const padding = Array.from({ length: Math.max(0, depth - lists.length) }, () => []);
    await chain.feed([...lists, ...padding], fork);
    for (const payment of payments) {
      const { confirmations, amountReceived } = await shown(payment);
      expect({ confirmations, amountReceived }, `turn ${turn}`).toEqual(expected(payment.address));
    }
  }
};
test('generated transfers and reorgs, seed 1', () => generated(1));
test.each([2, 3])('generated transfers and reorgs, seed %i', { tags: ['thorough'] }, generated);
