import { beforeAll, expect, test } from 'vitest';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { readPayments, readPaymentVersions } from '../../src/storage/payments/payments.ts';
import { sweep } from '../../src/workers/sweeper.ts';
import { type Written, writePayments } from '../api/listingScene.ts';
import { pagesRead } from '../support/pagesRead.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { createFedChain, type FedChain, type Sent } from './fedChain.ts';

/** The payments are in native coin on the first chain, which is never caught up, so they do not expire. */
let quiet: QuietScene;
let home: FedChain;
let other: FedChain;
beforeAll(async () => {
  quiet = await startQuietScene();
  home = await createFedChain(quiet.context, 'eip155:31337');
  other = await createFedChain(quiet.context, 'eip155:8453');
  await home.feed([[], []]);
  await other.feed([[], []]);
});

const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const atOnce = 200;

type Made = Written & { readonly scope: { readonly accountId: string; readonly environment: 'sandbox' } };
const newPayments = async (count: number): Promise<Made[]> => {
  const account = await quiet.scene.account();
  const one = { createdMs: Date.now(), currency: 'ETH', network: 'base', status: 'pending', amount: 10n } as const;
  const written = await writePayments(quiet.scene, account, Array(count).fill(one));
  return written.map(payment => ({ ...payment, scope: { accountId: account.id, environment: 'sandbox' } }));
};

const strays = ({ address }: Made, count: number): Sent[] =>
  Array.from({ length: count }, (_, n) => ({ to: address, amount: BigInt(n + 1), contract: token, txHash: '0xf100d' }));

const shown = async ({ scope, id }: Made) => {
  const [row] = await readPayments(quiet.context.db, [{ scope, id }]);
  return readShownRow(quiet.context, row!);
};

type Told = { sequence: number; type: string; body: string };
const told = ({ id }: Made) =>
  quiet.read<Told>(`select sequence, type, body from events where payment_id = '${id}' order by sequence`);
const strayEvents = async (payment: Made): Promise<Told[]> =>
  (await told(payment)).filter(({ type }) => type === 'payment.stray');
const untold = async ({ id }: Made): Promise<number> => {
  const [row] = await quiet.read<{ n: number }>(`select count(*)::int as n from transfers
    where payment_id = '${id}' and stray and canonical and not told`);
  return row!.n;
};

const sweepUntilTold = async (payment: Made): Promise<void> => {
  for (let left = await untold(payment); left > 0; ) {
    await sweep(quiet.context);
    const now = await untold(payment);
    expect(now, 'each sweep tells some').toBeLessThan(left);
    left = now;
  }
};

const expectEachToldOnce = async (payment: Made, count: number): Promise<void> => {
  const events = await told(payment);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
  expect(events.filter(({ type }) => type === 'payment.stray')).toHaveLength(count);
  await sweep(quiet.context);
  expect(await told(payment)).toHaveLength(events.length);
};

test('thousands of strays in a block are all recorded with it, and told in parts, each once', {
  tags: ['thorough'],
}, async () => {
  const [flooded, paid] = (await newPayments(2)) as [Made, Made];
  await home.feed([[...strays(flooded, 2_000), { to: paid.address, amount: 10n }]]);
  expect(await shown(paid)).toMatchObject({ status: 'confirming' });
  const [first, left] = [(await strayEvents(flooded)).length, await untold(flooded)];
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(atOnce);
  expect(first + left).toBe(2_000);
  await sweepUntilTold(flooded);
  await expectEachToldOnce(flooded, 2_000);
  const largest = Array.from({ length: 100 }, (_, n) => `${1901 + n}`);
  const amountsOf = (payment: { strays: { amount: string }[] }) => payment.strays.map(({ amount }) => amount).sort();
  expect(amountsOf(await shown(flooded))).toEqual(largest);
  for (const { body } of await strayEvents(flooded)) expect(amountsOf(JSON.parse(body).data)).toEqual(largest);
});

test('many payments share what is told at once, and none is left out', async () => {
  const payments = await newPayments(50);
  await other.feed([payments.flatMap(payment => strays(payment, 15))]);
  const firsts = await Promise.all(payments.map(payment => strayEvents(payment)));
  expect(firsts.flat().length).toBeLessThanOrEqual(atOnce);
  for (const first of firsts) expect(first.length).toBeGreaterThan(0);
  for (const payment of payments) await sweepUntilTold(payment);
  for (const payment of payments) await expectEachToldOnce(payment, 15);
});

test('what a reorg takes before it was told is not told, unless it comes again', async () => {
  const [payment] = (await newPayments(1)) as [Made];
  const fork = other.blocks.at(-1)!.number;
  await other.feed([strays(payment, 500), []]);
  const { length: first } = await strayEvents(payment);
  expect(first).toBeLessThan(500);
  await other.feed([[], [], []], fork);
  await sweep(quiet.context);
  expect(await shown(payment)).toMatchObject({ status: 'pending', strays: [] });
  await expectEachToldOnce(payment, first);
  await other.feed([strays(payment, 3)]);
  expect((await shown(payment)).strays).toHaveLength(3);
  await expectEachToldOnce(payment, first + 3);
});

test('strays are told beside what is credited, and credits never wait for them', async () => {
  const [payment] = (await newPayments(1)) as [Made];
  await home.feed([strays(payment, 450)]);
  await home.feed([[{ to: payment.address, amount: 10n }]]);
  expect((await shown(payment)).status).toBe('confirming');
  await home.feed([[], []]);
  expect((await shown(payment)).status).toBe('completed');
  await sweepUntilTold(payment);
  await expectEachToldOnce(payment, 450);
  expect((await shown(payment)).status).toBe('completed');
});

test('a payment that cannot be decided is not tried again with every sweep', async () => {
  const [payment] = (await newPayments(1)) as [Made];
  await home.feed([strays(payment, 450)]);
  const { length: first } = await strayEvents(payment);
  await quiet.tamper(payment.id, 'derivation_index = derivation_index + 1000000');
  for (let times = 0; times < 3; times++) await sweep(quiet.context);
  const refused = quiet.errors.filter(({ message }) => message === 'a due payment could not be advanced');
  expect(refused.map(({ fields }) => fields.paymentId)).toEqual([payment.id]);
  expect(await strayEvents(payment)).toHaveLength(first);
  // Repaired by hand, it continues at its next wake-up.
  await quiet.tamper(payment.id, 'derivation_index = derivation_index - 1000000, wake_at = clock_timestamp()');
  await quiet.caughtUp();
  await sweepUntilTold(payment);
  await expectEachToldOnce(payment, 450);
});

test('a transaction mined again keeps when each payment first saw it', async () => {
  const [one, two] = (await newPayments(2)) as [Made, Made];
  const sent = [one, two, one].map(({ address }) => ({ to: address, amount: 1n, txHash: '0xa6a1n' }));
  const fork = home.blocks.at(-1)!.number;
  await home.feed([sent.slice(0, 1)]);
  await home.feed([sent.slice(1)]);
  const seen = (canonical: boolean) =>
    quiet.read<{ id: string; first: string; last: string }>(`select payment_id as id, min(first_seen_at)::text as first,
        max(first_seen_at)::text as last from transfers where tx_hash = '0xa6a1n' and canonical = ${canonical} group by 1
      order by 1`);
  const [first, second] = await seen(true);
  expect(first!.first).not.toBe(second!.first);
  await home.feed([[], sent, []], fork);
  expect(await seen(true)).toEqual([first!, second!].map(({ id, first }) => ({ id, first, last: first })));
  expect(await seen(false)).toEqual([first, second]);
});

test('a payment with thousands of strays costs its readers no more than one with a hundred', async () => {
  const [some, many] = (await newPayments(2)) as [Made, Made];
  await home.feed([[...strays(some, 100), ...strays(many, 3_000)]]);
  await quiet.scene.admin.db.script('vacuum analyze');
  const pages = ({ scope, id }: Made) =>
    Promise.all(
      [readPayments, readPaymentVersions].map(read => pagesRead(quiet.scene.admin.db, db => read(db, [{ scope, id }]))),
    );
  const [few, most] = [await pages(some), await pages(many)];
  expect(few[0]).toBeGreaterThan(0);
  for (const [at, cost] of most.entries()) expect(cost).toBeLessThanOrEqual(few[at]! * 2);
});
