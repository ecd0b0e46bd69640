import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type DeliveryScene, type Merchant, startDeliveryScene } from './deliveryScene.ts';
import { answering, eventOf, type Receiver } from './receiver.ts';

const parentId = '00f067aa0ba902b7';
const traces = ['4bf92f3577b34da6a3ce929d0e0e4736', 'a3ce929d0e0e47364bf92f3577b34da6'] as const;
const headerOf = (traceId: string, flags = '01'): string => `00-${traceId}-${parentId}-${flags}`;

let scene: DeliveryScene;
let merchant: Merchant;
let receiver: Receiver;
beforeAll(async () => {
  scene = await startDeliveryScene();
  merchant = await scene.merchant();
  receiver = await scene.receiver();
});

const callWith = async (traceparent: string | null, path: string, body: object) => {
  const headers: Record<string, string> = traceparent === null ? {} : { traceparent };
  const key = merchant.account.keys.sandbox;
  const answer = await scene.florin.client.call('POST', `/v1${path}`, { key, body, headers });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const createWith = (traceparent: string | null): Promise<{ id: string }> =>
  callWith(traceparent, '/payments', {
    amount: '25',
    currency: 'USDC',
    network: 'base',
    callbackUrl: `${receiver.url}/callback`,
  });

/** The `traceparent` of each request about the payment, once there are this many, by the type of its event. */
const arrived = async (paymentId: string, count: number): Promise<(string | undefined)[][]> => {
  const mine = () => receiver.received.filter(each => eventOf(each).data.id === paymentId);
  const found = await until(mine, all => all.length === count);
  return found
    .map(each => [eventOf(each).type, each.headers.traceparent as string | undefined])
    .toSorted(([a], [b]) => a!.localeCompare(b!));
};

const goesOn = (traceId: string, flags = '01') =>
  expect.stringMatching(new RegExp(`^00-${traceId}-(?!${parentId})[0-9a-f]{16}-${flags}$`));

test('the events of a request carry its trace on, each with a parent of its own', async () => {
  const [created, canceled] = traces;
  const payment = await createWith(headerOf(created));
  await callWith(headerOf(canceled, '00'), `/payments/${payment.id}/cancel`, {});
  const found = await arrived(payment.id, 2);
  expect(found).toEqual([
    ['payment.canceled', goesOn(canceled, '00')],
    ['payment.created', goesOn(created)],
  ]);
});

test('requests that are created together do not mix their traces', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(32, '1'));
  const headers = ids.map((id, n) => (n % 3 === 0 ? null : headerOf(id)));
  const payments = await Promise.all(headers.map(createWith));
  for (const [n, { id }] of payments.entries()) {
    expect(await arrived(id, 1)).toEqual([['payment.created', headers[n] === null ? undefined : goesOn(ids[n]!)]]);
  }
});

test('an event that a block causes has no trace, and the one that the request caused keeps its own', async () => {
  const payment = await createWith(headerOf(traces[0]));
  await callWith(headerOf(traces[1]), `/sandbox/payments/${payment.id}/simulate`, { outcome: 'paid' });
  expect(await arrived(payment.id, 4)).toEqual([
    ['payment.completed', undefined],
    ['payment.confirming', undefined],
    ['payment.created', goesOn(traces[0])],
    ['payment.detected', undefined],
  ]);
});

test('a later attempt has the same trace and another parent', async () => {
  receiver.answer = answering(500);
  const payment = await createWith(headerOf(traces[0]));
  await scene.untilDelivery(payment, ({ attempts }) => attempts === 1);
  receiver.answer = answering(200);
  await scene.makeDue(payment);
  const sent = (await arrived(payment.id, 2)).map(([, traceparent]) => traceparent);
  expect(sent).toEqual([goesOn(traces[0]), goesOn(traces[0])]);
  expect(new Set(sent).size).toBe(2);
});

test('a test event and a security event carry on the trace of their request', async () => {
  const { id } = await merchant.endpoint(`${receiver.url}/endpoint`, { events: ['account.security'] });
  await callWith(headerOf(traces[0]), `/webhooks/${id}/test`, { type: 'webhook.test' });
  await callWith(headerOf(traces[1]), '/webhooks', { url: `${receiver.url}/other`, events: ['payment.completed'] });
  const traceOf = async (type: string, traceId: string) => {
    const isIt = (each: Receiver['received'][number]) =>
      eventOf(each).type === type && String(each.headers.traceparent).includes(traceId);
    const found = await until(
      () => receiver.received.filter(isIt),
      all => all.length > 0,
    );
    return found.map(each => each.headers.traceparent);
  };
  expect(await traceOf('webhook.test', traces[0])).toEqual([goesOn(traces[0])]);
  expect(await traceOf('account.security', traces[1])).toEqual([goesOn(traces[1])]);
});

test('a trace that somebody wrote to the database is not sent unless it is well-formed', async () => {
  receiver.answer = answering(500);
  const payment = await createWith(headerOf(traces[0]));
  await scene.untilDelivery(payment, ({ attempts }) => attempts === 1);
  await scene.sql('alter table events drop constraint events_trace_check');
  await scene.sql('alter table events disable trigger user');
  await scene.sql(`update events set trace = 'x\r\nwebhook-id: other' where payment_id = $1`, payment.id);
  receiver.answer = answering(200);
  await scene.makeDue(payment);
  const sent = receiver.received.length;
  const [late] = await until(
    () => receiver.received.slice(sent).filter(each => eventOf(each).data.id === payment.id),
    all => all.length === 1,
  );
  expect(late!.headers.traceparent).toBeUndefined();
});
