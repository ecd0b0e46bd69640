import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type DeliveryScene, startDeliveryScene } from './deliveryScene.ts';
import { eventOf, type Receiver, verify } from './receiver.ts';

let scene: DeliveryScene;
beforeAll(async () => {
  scene = await startDeliveryScene();
});

const kinds = ['payment.created', 'payment.detected', 'payment.confirming', 'payment.completed'];

/** The events of a payment that a receiver has had, by their sequence, once the last kind is among them. */
const whole = async (receiver: Receiver, paymentId: string, last: string) => {
  const mine = () => receiver.events().filter(({ data }) => data.id === paymentId);
  const events = await until(
    async () => mine(),
    all => all.some(({ type }) => type === last),
  );
  return events.toSorted((a, b) => a.sequence - b.sequence);
};

test('a payment that is paid is told from its creation to its completion, each event once and in sequence', async () => {
  const merchant = await scene.merchant();
  const [all, some, callbacks] = [await scene.receiver(), await scene.receiver(), await scene.receiver()];
  const { secret } = await merchant.endpoint(all.url);
  await merchant.endpoint(some.url, { events: ['payment.completed', 'payment.created'] });
  const payment = await merchant.calls.made({ callbackUrl: `${callbacks.url}/orders/7` });
  const paid = await merchant.call('POST', `/sandbox/payments/${payment.id}/simulate`, { outcome: 'paid' });
  expect(paid.status, paid.text).toBe(200);

  for (const receiver of [all, callbacks]) {
    const events = await whole(receiver, payment.id, 'payment.completed');
    expect(events.map(({ type, sequence }) => [sequence, type])).toEqual(kinds.map((type, i) => [i + 1, type]));
    expect(events.map(({ data }) => data.status)).toEqual(['pending', 'pending', 'confirming', 'completed']);
  }
  const chosen = await whole(some, payment.id, 'payment.completed');
  expect(chosen.map(({ sequence }) => sequence)).toEqual([1, 4]);
  for (const each of all.received) expect(verify(secret, each)).toEqual(eventOf(each));

  const rows = await scene.untilDeliveries(payment, each => each.every(({ status }) => status === 'succeeded'));
  expect(rows).toHaveLength(4 + 2 + 4);
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  for (const receiver of [all, callbacks, some]) {
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test('many payments at once: every event arrives once, and says what is stored', async () => {
  const merchant = await scene.merchant();
  const receiver = await scene.receiver();
  const { id } = await merchant.endpoint(receiver.url);
  const payments = await Promise.all(Array.from({ length: 60 }, () => merchant.calls.made()));
  const simulate = (payment: { id: string }) =>
    merchant.call('POST', `/sandbox/payments/${payment.id}/simulate`, { outcome: 'paid' });
  await Promise.all(payments.slice(0, 20).map(simulate));
  await scene.untilDeliveries(
    { id },
    rows => rows.length === 40 + 20 * 4 && rows.every(({ status }) => status === 'succeeded'),
  );
  const stored: { body: string }[] = await scene.sql(
    `select body from events where account_id = $1 and payment_id is not null order by id`,
    merchant.account.id,
  );
  const got = receiver.received.map(({ body }) => body.toString('utf8'));
  expect(got.toSorted()).toEqual(stored.map(({ body }) => body).toSorted());
});

test('a canceled payment and one that was not told of by an endpoint of its time', async () => {
  const merchant = await scene.merchant();
  const receiver = await scene.receiver();
  const early = await merchant.calls.made();
  const { id } = await merchant.endpoint(receiver.url);
  expect((await merchant.calls.act(early.id, 'cancel')).status).toBe(200);
  await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');
  expect(receiver.events()).toMatchObject([{ type: 'payment.canceled', sequence: 2, data: { id: early.id } }]);
});
