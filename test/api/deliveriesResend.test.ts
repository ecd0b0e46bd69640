import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type EventCalls, eventCalls } from './eventCalls.ts';
import { expectError, expectInvalid } from './paymentCalls.ts';
import { type Received, startWebhookReceiver, type WebhookReceiver } from './webhookReceiver.ts';

let scene: TestFlorin;
let receiver: WebhookReceiver;
let shop: EventCalls;
let endpoint: { id: string; secret: string };
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
});
beforeEach(async () => {
  // One per test, so that automatic retries of other tests do not interfere.
  receiver = await startWebhookReceiver();
  shop = eventCalls(scene, await scene.account());
  endpoint = await shop.endpoint(`${receiver.url}/endpoint`);
  return () => receiver.close();
});

type Shown = Answer['json'];
const shownOnce = (id: string, isWanted: (delivery: Shown) => boolean): Promise<Shown> =>
  until(() => shop.got(`/deliveries/${id}`), isWanted);
const resend = (id: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> =>
  shop.post(`/deliveries/${id}/resend`, body, headers);

/** The delivery of a new payment, once it has the status and an attempt. */
const deliveryThat = async (status: string): Promise<Shown> => {
  await shop.made();
  const [{ id }] = await shop.deliveries(endpoint.id);
  return shownOnce(id, delivery => delivery.status === status && delivery.attempts > 0);
};

const setStatus = (status: string): Promise<Answer> =>
  scene.client.call('PATCH', `/v1/webhooks/${endpoint.id}`, { key: shop.account.keys.sandbox, body: { status } });

const expectScheduled = (answer: Answer, { log: _, ...delivery }: Shown): void => {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toEqual({
    ...delivery,
    status: 'scheduled',
    nextAttemptAt: expect.any(String),
    parkedReason: null,
    finishedAt: null,
  });
};

describe('a delivery is sent again', () => {
  test('that had succeeded: the same bytes under the same id', async () => {
    const delivery = await deliveryThat('succeeded');
    expectScheduled(await resend(delivery.id), delivery);
    const again = await shownOnce(delivery.id, ({ attempts }) => attempts === 2);
    expect(again).toMatchObject({ status: 'succeeded', finishedAt: expect.any(String) });
    expect(again.log).toHaveLength(2);
    expect(again.log[1]).toEqual(delivery.log[0]);
    expect(Date.parse(again.log[0].at)).toBeGreaterThanOrEqual(Date.parse(again.log[1].at));
    const [first, second] = receiver.received as [Received, Received];
    expect(receiver.received).toHaveLength(2);
    expect(second.body).toBe(first.body);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(new Webhook(endpoint.secret).verify(second.body, second.headers as Record<string, string>)).toBeTruthy();
  });

  test('that waits for its next attempt, at once', async () => {
    receiver.answer = response => response.writeHead(500).end();
    const delivery = await deliveryThat('scheduled');
    // Far in the future, so that only the resend can deliver it.
    await scene.admin.db.script(`update deliveries set next_attempt_at = now() + interval '1 day', failures = 3
      where id = '${delivery.id}'`);
    receiver.answer = response => response.end();
    const [{ nextAttemptAt }] = await shop.deliveries(endpoint.id);
    const answer = await resend(delivery.id);
    expectScheduled(answer, delivery);
    expect(Date.parse(answer.json.nextAttemptAt)).toBeLessThan(Date.parse(nextAttemptAt));
    await shownOnce(delivery.id, ({ status }) => status === 'succeeded');
  });

  test('that was parked, with the whole schedule ahead of it', async () => {
    receiver.answer = response => response.writeHead(500).end();
    const delivery = await deliveryThat('scheduled');
    await scene.admin.db.script(`update deliveries set status = 'parked', parked_reason = 'all 6 attempts failed',
      next_attempt_at = null, finished_at = now(), failures = 6, attempts = 6 where id = '${delivery.id}'`);
    const parked = await shop.got(`/deliveries/${delivery.id}`);
    expectScheduled(await resend(delivery.id), parked);
    const failed = await shownOnce(delivery.id, ({ attempts }) => attempts === 7);
    expect(failed).toMatchObject({ status: 'scheduled', parkedReason: null });
    receiver.answer = response => response.end();
    await resend(delivery.id);
    await shownOnce(delivery.id, ({ status }) => status === 'succeeded');
  });

  test('to a callbackUrl', async () => {
    const { id: paymentId } = await shop.made({ callbackUrl: `${receiver.url}/callback` });
    const [event] = await shop.events(`paymentId=${paymentId}`);
    const { data } = await shop.got(`/events/${event.id}/deliveries`);
    const { id } = data.find((each: Shown) => each.endpointId === null);
    await shownOnce(id, ({ status }) => status === 'succeeded');
    expect((await resend(id)).status).toBe(200);
    await shownOnce(id, ({ status, attempts }) => status === 'succeeded' && attempts === 2);
    expect(receiver.received.filter(({ path }) => path === '/callback')).toHaveLength(2);
  });

  test('by one request with an Idempotency-Key, however often it is made', async () => {
    const delivery = await deliveryThat('succeeded');
    const headers = { 'idempotency-key': 'resend-1' };
    const first = await resend(delivery.id, headers);
    await shownOnce(delivery.id, ({ status, attempts }) => status === 'succeeded' && attempts === 2);
    const second = await resend(delivery.id, headers);
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(await shop.got(`/deliveries/${delivery.id}`)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expectError(await resend(delivery.id, headers, {}), 422, 'idempotency_mismatch');
    // The same idempotency key is independent for another delivery.
    const other = await deliveryThat('succeeded');
    expectScheduled(await resend(other.id, headers), other);
  });
});

describe('a delivery is not sent again', () => {
  test('to an endpoint that is disabled, until it is enabled', async () => {
    receiver.answer = response => response.writeHead(410).end();
    const delivery = await deliveryThat('parked');
    const refused = await resend(delivery.id);
    expectError(refused, 409, 'conflict');
    expect(refused.json.error.message).toContain('disabled');
    expect(await shop.got(`/deliveries/${delivery.id}`)).toEqual(delivery);
    receiver.answer = response => response.end();
    expect((await setStatus('enabled')).status).toBe(200);
    expectScheduled(await resend(delivery.id), delivery);
    await shownOnce(delivery.id, ({ status }) => status === 'succeeded');
  });

  test('to an endpoint that was deleted', async () => {
    const delivery = await deliveryThat('succeeded');
    await scene.client.call('DELETE', `/v1/webhooks/${endpoint.id}`, { key: shop.account.keys.sandbox });
    const refused = await resend(delivery.id);
    expectError(refused, 409, 'conflict');
    expect(refused.json.error.message).toContain('deleted');
    expect(await shop.got(`/deliveries/${delivery.id}`)).toEqual(delivery);
  });

  test('to a callbackUrl that answered 410 to any callback of the payment', async () => {
    receiver.answer = (response, { path }) => response.writeHead(path === '/callback' ? 410 : 200).end();
    const { id: paymentId } = await shop.made({ callbackUrl: `${receiver.url}/callback` });
    const [event] = await shop.events(`paymentId=${paymentId}`);
    const { data } = await shop.got(`/events/${event.id}/deliveries`);
    const { id } = data.find((each: Shown) => each.endpointId === null);
    await shownOnce(id, ({ status }) => status === 'parked');
    const headers = { 'idempotency-key': 'resend-2' };
    const refused = await resend(id, headers);
    expectError(refused, 409, 'conflict');
    expect(refused.json.error.message).toContain('410');
    expect((await resend(id, headers)).headers['idempotent-replayed']).toBe('true');
    // The delivery to the endpoint is not affected.
    const { id: beside } = data.find((each: Shown) => each.endpointId !== null);
    expect((await resend(beside)).status).toBe(200);
    // Nor is the callback of another payment.
    const later = await shop.made({ callbackUrl: `${receiver.url}/other` });
    const [created] = await shop.events(`paymentId=${later.id}`);
    const callback = (await shop.got(`/events/${created.id}/deliveries`)).data.find((each: Shown) => !each.endpointId);
    await shownOnce(callback.id, ({ status }) => status === 'succeeded');
    expect((await resend(callback.id)).status).toBe(200);
  });

  test('with an id that is unknown or another’s', async () => {
    const { id } = await deliveryThat('succeeded');
    const path = `/deliveries/${id}/resend`;
    for (const asker of [eventCalls(scene, await scene.account()), eventCalls(scene, shop.account, 'production')]) {
      expectError(await asker.post(path), 404, 'not_found');
      // The 404 is not stored under the idempotency key, so it cannot block the owner.
      expectError(await asker.post(path, undefined, { 'idempotency-key': 'resend-3' }), 404, 'not_found');
    }
    for (const unknown of [`dlv_${'0'.repeat(26)}`, 'dlv_none', '%00']) {
      expectError(await resend(unknown), 404, 'not_found');
    }
    expect(await shop.got(`/deliveries/${id}`)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  test('with a body that asks for something', async () => {
    const { id } = await deliveryThat('succeeded');
    expectInvalid(await resend(id, {}, { url: 'https://elsewhere.example/' }), 'url');
    expect(await shop.got(`/deliveries/${id}`)).toMatchObject({ attempts: 1 });
  });
});

test('replayed events arrive, also those from before the endpoint was there', async () => {
  const early = await startWebhookReceiver();
  try {
    await deliveryThat('succeeded');
    const { id, secret } = await shop.endpoint(early.url);
    const range = { from: '2020-01-01', to: '2120-01-01' };
    for (const times of [1, 2]) {
      expect((await shop.post(`/webhooks/${id}/replay`, range)).json).toEqual({ scheduled: 1 });
      await until(
        () => shop.deliveries(id),
        ([delivery]) => delivery.status === 'succeeded' && delivery.attempts === times,
      );
    }
    const bodies = early.received.map(({ body }) => body);
    expect(bodies).toEqual(Array(2).fill(receiver.received[0]!.body));
    for (const { body, headers } of early.received) new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    await early.close();
  }
});
