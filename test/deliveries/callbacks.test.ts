import { describe, expect, test, vi } from 'vitest';
import { until } from '../support/until.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, verify } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

merchantPerTest();

const cancel = async ({ id }: { id: string }): Promise<void> => {
  expect((await merchant.calls.act(id, 'cancel')).status).toBe(200);
};

describe('callbackUrl', () => {
  test("is told of its payment's events, signed with the account's callback secret", async () => {
    const receiver = await scene.receiver();
    const payment = await merchant.calls.made({ callbackUrl: `${receiver.url}/orders/7?x=1` });
    await merchant.calls.made();
    await cancel(payment);
    const rows = await scene.untilDeliveries(payment, all => all.every(({ status }) => status === 'succeeded'));
    expect(rows.map(({ endpointId, type }) => [endpointId, type])).toEqual([
      [null, 'payment.created'],
      [null, 'payment.canceled'],
    ]);
    const secret = await merchant.callbackSecret();
    expect(receiver.received.map(({ path }) => path)).toEqual(Array(2).fill('/orders/7?x=1'));
    for (const each of receiver.received) expect(verify(secret, each)).toMatchObject({ data: { id: payment.id } });

    const stranger = await (await scene.merchant()).callbackSecret();
    expect(() => verify(stranger, receiver.received[0]!)).toThrow();
    const { secret: endpointSecret } = await merchant.endpoint(`${receiver.url}/endpoint`);
    expect(() => verify(endpointSecret, receiver.received[0]!)).toThrow();
  });

  test('and an endpoint at another address both get each event', async () => {
    const receiver = await scene.receiver();
    await merchant.endpoint(`${receiver.url}/endpoint`);
    const payment = await merchant.calls.made({ callbackUrl: `${receiver.url}/callback` });
    await scene.untilDeliveries(payment, all => all.length === 2 && all.every(({ status }) => status === 'succeeded'));
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(['/callback', '/endpoint']);
    const [a, b] = receiver.received;
    expect(a!.headers['webhook-id']).toBe(b!.headers['webhook-id']);
  });
});

describe('an endpoint of the same address', () => {
  test("that has subscribed to the kind takes the callback's place, for that kind alone", async () => {
    const receiver = await scene.receiver();
    const { id, secret } = await merchant.endpoint(`${receiver.url}/hook`, { events: ['payment.created'] });
    const payment = await merchant.calls.made({ callbackUrl: `${receiver.url}/hook` });
    await cancel(payment);
    const rows = await scene.untilDeliveries(payment, all => all.every(({ status }) => status === 'succeeded'));
    expect(rows.map(({ type, endpointId }) => [type, endpointId])).toEqual([
      ['payment.created', id],
      ['payment.canceled', null],
    ]);
    const of = (type: string) => receiver.received.find((_, i) => receiver.events()[i]!.type === type)!;
    expect(receiver.received).toHaveLength(2);
    expect(verify(secret, of('payment.created'))).toBeTruthy();
    expect(verify(await merchant.callbackSecret(), of('payment.canceled'))).toBeTruthy();
  });

  test("that has subscribed to all takes the callback's place from creation on", async () => {
    const receiver = await scene.receiver();
    const { id } = await merchant.endpoint(receiver.url);
    const payment = await merchant.calls.made({ callbackUrl: receiver.url });
    await cancel(payment);
    const rows = await scene.untilDeliveries(payment, all => all.every(({ status }) => status === 'succeeded'));
    expect(rows.map(({ endpointId }) => endpointId)).toEqual([id, id]);
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    ['disabled', (id: string) => merchant.call('PATCH', `/webhooks/${id}`, { status: 'disabled' })],
    ['deleted', (id: string) => merchant.call('DELETE', `/webhooks/${id}`)],
  ])('that is %s does not', async (_, end) => {
    const receiver = await scene.receiver();
    const { id } = await merchant.endpoint(receiver.url);
    await end(id);
    const payment = await merchant.calls.made({ callbackUrl: receiver.url });
    const row = await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
    expect(row.endpointId).toBeNull();
  });

  test('of another account does not', async () => {
    const receiver = await scene.receiver();
    await (await scene.merchant()).endpoint(receiver.url);
    const payment = await merchant.calls.made({ callbackUrl: receiver.url });
    const row = await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
    expect(row.endpointId).toBeNull();
    expect(receiver.received).toHaveLength(1);
  });
});

describe('410 to a callback', () => {
  test("stops that payment's callbacks and no others", async () => {
    const receiver = await scene.receiver(answering(410));
    const stopped = await merchant.calls.made({ callbackUrl: receiver.url });
    await scene.untilDelivery(stopped, ({ parkedReason }) => parkedReason === 'answered 410 (gone)');
    receiver.answer = answering(200);
    const other = await merchant.calls.made({ callbackUrl: receiver.url });
    await cancel(stopped);
    await cancel(other);
    await scene.untilDeliveries(other, all => all.length === 2 && all.every(({ status }) => status === 'succeeded'));
    const rows = await scene.untilDeliveries(stopped, all => all.every(({ status }) => status === 'parked'));
    expect(rows.map(({ parkedReason, attempts }) => [parkedReason, attempts])).toEqual([
      ['answered 410 (gone)', 1],
      ['the receiver wants no more callbacks of this payment', 0],
    ]);
    const told = receiver.events().map(({ data, type }) => [data.id, type]);
    expect(told.filter(([id]) => id === stopped.id)).toEqual([[stopped.id, 'payment.created']]);
    const refused = await merchant.call('POST', `/deliveries/${rows[1]!.id}/resend`);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict']);
  });

  test('holds up no callbacks of other payments to that server', async () => {
    const receiver = await scene.receiver(answering(410));
    for (let i = 0; i < 4; i++) {
      const payment = await merchant.calls.made({ callbackUrl: receiver.url });
      await scene.untilDelivery(payment, ({ status }) => status === 'parked');
    }
    receiver.answer = () => {};
    const others = [];
    for (let i = 0; i < 4; i++) others.push(await merchant.calls.made({ callbackUrl: receiver.url }));
    await until(
      async () => receiver.received.length,
      count => count === 8,
    );
    expect(receiver.most()).toBe(4);
    receiver.answer = answering(200);
    receiver.release(200);
    for (const each of others) await scene.untilDelivery(each, ({ status }) => status === 'succeeded');
  });

  test('stops retries of its earlier events as well, and leaves endpoints alone', async () => {
    const receiver = await scene.receiver(answering(500));
    const listener = await scene.receiver();
    const { id } = await merchant.endpoint(listener.url);
    const payment = await merchant.calls.made({ callbackUrl: receiver.url });
    await scene.untilDeliveries(payment, all => all.some(({ failures }) => failures === 1));
    receiver.answer = answering(410);
    await cancel(payment);
    await scene.untilDeliveries(payment, all => all.some(({ parkedReason }) => parkedReason === 'answered 410 (gone)'));
    await scene.makeDue(payment);
    const rows = await scene.untilDeliveries(payment, all => all.every(({ status }) => status !== 'scheduled'));
    expect(rows.filter(({ endpointId }) => endpointId === null).map(({ parkedReason }) => parkedReason)).toEqual([
      'the receiver wants no more callbacks of this payment',
      'answered 410 (gone)',
    ]);
    expect(rows.filter(row => row.endpointId === id).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(receiver.received).toHaveLength(2);
  });
});

test('a callback whose attempts are used up is parked, and later events of the payment are still tried', async () => {
  const receiver = await scene.receiver(answering(500));
  const payment = await merchant.calls.made({ callbackUrl: receiver.url });
  await scene.untilDelivery(payment, ({ failures }) => failures === 1);
  await scene.sql(`update deliveries set failures = 5 where callback_url = $1`, receiver.url);
  await scene.makeDue(payment);
  const parked = await scene.untilDelivery(payment, ({ status }) => status === 'parked');
  expect(parked).toMatchObject({ parkedReason: '6 attempts in a row failed; the last: answered 500', attempts: 2 });
  receiver.answer = answering(200);
  await cancel(payment);
  await scene.untilDeliveries(payment, all => all.some(({ status }) => status === 'succeeded'));
  await merchant.call('POST', `/deliveries/${parked.id}/resend`);
  await scene.untilDeliveries(payment, all => all.every(({ status }) => status === 'succeeded'));
});

test('callbacks of an account to one server are paced together, and those to another server are not', async () => {
  const [dead, live] = [await scene.receiver(() => {}), await scene.receiver()];
  const stuck = [];
  for (let i = 0; i < 12; i++) stuck.push(await merchant.calls.made({ callbackUrl: `${dead.url}/order/${i}` }));
  const payment = await merchant.calls.made({ callbackUrl: live.url });
  await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
  await until(
    async () => dead.received.length,
    count => count === 4,
  );
  expect(dead.most()).toBe(4);
  dead.answer = answering(200);
  dead.release(200);
  for (const each of stuck) await scene.untilDelivery(each, ({ status }) => status === 'succeeded');
});
