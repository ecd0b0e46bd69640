import { Webhook } from 'standardwebhooks';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { revealCallbackSecret } from '../../src/engine/access/accounts.ts';
import type { TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type EventCalls, eventCalls } from './eventCalls.ts';
import { expectError } from './paymentCalls.ts';
import { type Received, startReceivingFlorin, startWebhookReceiver, type WebhookReceiver } from './webhookReceiver.ts';

let scene: TestFlorin;
let receiver: WebhookReceiver;
beforeAll(async () => {
  ({ scene, receiver } = await startReceivingFlorin({ env: { FLORIN_ROLES: 'api,watch,deliver' } }));
});
afterEach(() => receiver.reset());

const newcomer = async (): Promise<EventCalls> => eventCalls(scene, await scene.account());

type Delivery = Answer['json'];
/** The single delivery to an endpoint, once it matches. */
const deliveryOf = async (
  shop: EventCalls,
  endpointId: string,
  isWanted: (d: Delivery) => boolean,
): Promise<Delivery> => {
  const listed = await until(
    () => shop.deliveries(endpointId),
    ([delivery]) => delivery !== undefined && isWanted(delivery),
  );
  expect(listed).toHaveLength(1);
  return listed[0];
};
const receivedOf = (eventId: string, path?: string): Received =>
  receiver.received.find(each => each.headers['webhook-id'] === eventId && each.path === (path ?? each.path))!;
const isTried = ({ attempts }: Delivery): boolean => attempts > 0;
const isDelivered = ({ status }: Delivery): boolean => status === 'succeeded';

describe('what a receiver gets', () => {
  test('is the event, byte for byte, with what is told of it', async () => {
    const shop = await newcomer();
    const { id: endpointId, secret } = await shop.endpoint(`${receiver.url}/hooks?shop=1`);
    receiver.answer = response => response.writeHead(201, { 'x-own': '1' }).end('thank you ✓');
    const payment = (
      await shop.create('{"amount":"1","currency":"USDC","network":"base","metadata":{"b":1.0,"a":"\\u00e9"}}')
    ).json;
    const delivery = await deliveryOf(shop, endpointId, isDelivered);
    const received = receivedOf(delivery.eventId);
    const bytes = (await shop.get(`/events/${delivery.eventId}`)).text;
    expect(received.body).toBe(bytes);
    expect(new Webhook(secret).verify(received.body, received.headers as Record<string, string>)).toMatchObject({
      id: delivery.eventId,
      data: { id: payment.id },
    });

    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_[0-9a-hjkmnp-tv-z]{26}$/),
      eventId: expect.stringMatching(/^evt_/),
      type: 'payment.created',
      endpointId,
      url: `${receiver.url}/hooks?shop=1`,
      status: 'succeeded',
      attempts: 1,
      nextAttemptAt: null,
      parkedReason: null,
      createdAt: payment.createdAt,
      finishedAt: at,
    });
    const { log, ...shown } = await shop.got(`/deliveries/${delivery.id}`);
    expect(shown).toEqual(delivery);
    expect(log).toEqual([
      {
        at,
        request: { url: `${receiver.url}/hooks?shop=1`, headers: expect.any(Object) },
        statusCode: 201,
        error: null,
        durationMs: expect.any(Number),
        response: 'thank you ✓',
      },
    ]);
    const [{ durationMs, request }] = log;
    expect(Number.isInteger(durationMs) && durationMs >= 0).toBe(true);
    // The log shows what arrived, and the signature verifies against the event as shown.
    const sent = Object.keys(request.headers).map(name => [name, received.headers[name]]);
    expect(request.headers).toEqual(Object.fromEntries(sent));
    expect(Object.keys(request.headers)).toEqual(expect.arrayContaining(['webhook-id', 'content-type', 'user-agent']));
    expect(new Webhook(secret).verify(bytes, request.headers)).toBeTruthy();
    expect(() => new Webhook(secret).verify(bytes.replace('"1.00"', '"2.00"'), request.headers)).toThrow();
  });

  test('at a callbackUrl is signed with the secret of the account', async () => {
    const shop = await newcomer();
    const { id: endpointId, secret: other } = await shop.endpoint(`${receiver.url}/endpoint`);
    const { id: paymentId } = await shop.made({ callbackUrl: `${receiver.url}/callback` });
    const [event] = await shop.events(`paymentId=${paymentId}`);
    const { data } = await until(
      () => shop.got(`/events/${event.id}/deliveries`),
      ({ data }) => data.length === 2 && data.every(isDelivered),
    );
    const targets = data.map((each: Delivery) => [each.eventId, each.endpointId, each.url]);
    expect(targets).toHaveLength(2);
    expect(targets).toContainEqual([event.id, endpointId, `${receiver.url}/endpoint`]);
    expect(targets).toContainEqual([event.id, null, `${receiver.url}/callback`]);
    const callback = data.find((each: Delivery) => each.endpointId === null);
    const [{ request }] = (await shop.got(`/deliveries/${callback.id}`)).log;
    const scope = { accountId: shop.account.id, environment: 'sandbox' } as const;
    const secret = await revealCallbackSecret(scene.admin, scope);
    const { body, headers } = receivedOf(event.id, '/callback');
    expect(body).toBe((await shop.get(`/events/${event.id}`)).text);
    for (const each of [headers as Record<string, string>, request.headers]) {
      expect(new Webhook(secret).verify(body, each)).toBeTruthy();
      expect(() => new Webhook(other).verify(body, each)).toThrow();
    }
  });

  test('while a secret is rotated verifies with the old and the new one, by the log as well', async () => {
    const shop = await newcomer();
    const { id: endpointId, secret: old } = await shop.endpoint(receiver.url);
    const { secret: fresh } = (await shop.post(`/webhooks/${endpointId}/rotate`)).json;
    await shop.made();
    const { id, eventId } = await deliveryOf(shop, endpointId, isDelivered);
    const [{ request }] = (await shop.got(`/deliveries/${id}`)).log;
    const bytes = (await shop.get(`/events/${eventId}`)).text;
    for (const secret of [old, fresh]) expect(new Webhook(secret).verify(bytes, request.headers)).toBeTruthy();
  });
});

describe('an attempt that fails', () => {
  test('by its status is scheduled again, with the answer on record', async () => {
    const shop = await newcomer();
    const { id: endpointId } = await shop.endpoint(receiver.url);
    receiver.answer = response => response.writeHead(503).end('closed today');
    await shop.made();
    const delivery = await deliveryOf(shop, endpointId, isTried);
    expect(delivery).toMatchObject({ status: 'scheduled', parkedReason: null, finishedAt: null });
    const { log } = await shop.got(`/deliveries/${delivery.id}`);
    expect(log.at(-1)).toMatchObject({ statusCode: 503, error: 'answered 503', response: 'closed today' });
    expect(Date.parse(delivery.nextAttemptAt)).toBeGreaterThan(Date.parse(log[0].at));
  });

  test('without an answer says why', async () => {
    const shop = await newcomer();
    const gone = await startWebhookReceiver();
    await gone.close();
    const { id: endpointId } = await shop.endpoint(gone.url);
    await shop.made();
    const { id } = await deliveryOf(shop, endpointId, isTried);
    const { log } = await shop.got(`/deliveries/${id}`);
    expect(log.at(-1)).toMatchObject({ statusCode: null, error: expect.stringMatching(/refused/), response: '' });
  });

  test('by 410 parks the delivery, and says so', async () => {
    const shop = await newcomer();
    const { id: endpointId } = await shop.endpoint(receiver.url);
    receiver.answer = response => response.writeHead(410).end();
    await shop.made();
    const delivery = await deliveryOf(shop, endpointId, ({ status }) => status === 'parked');
    expect(delivery).toMatchObject({
      attempts: 1,
      nextAttemptAt: null,
      parkedReason: 'answered 410 (gone)',
      finishedAt: expect.any(String),
    });
    const endpoint = await shop.got(`/webhooks/${endpointId}`);
    expect(endpoint).toMatchObject({ status: 'disabled', disabledReason: expect.stringContaining('410') });
  });
});

test('of an answer the first 16 KiB are kept, whatever bytes they are', async () => {
  const shop = await newcomer();
  const { id: endpointId } = await shop.endpoint(receiver.url);
  receiver.answer = response => response.end(Buffer.concat([Buffer.from([0, 0xff, 0x22]), Buffer.alloc(20_000, 'x')]));
  await shop.made();
  const { id } = await deliveryOf(shop, endpointId, isDelivered);
  const [{ response }] = (await shop.got(`/deliveries/${id}`)).log;
  expect(response).toBe(`\u0000\ufffd"${'x'.repeat(16_384 - 3)}`);
});

test('no secret is told anywhere', async () => {
  const shop = await newcomer();
  const { id: endpointId, secret } = await shop.endpoint(receiver.url);
  const { id: paymentId } = await shop.made({ callbackUrl: `${receiver.url}/callback` });
  const [event] = await shop.events(`paymentId=${paymentId}`);
  const { data } = await until(
    () => shop.got(`/events/${event.id}/deliveries`),
    ({ data }) => data.length === 2 && data.every(isDelivered),
  );
  const scope = { accountId: shop.account.id, environment: 'sandbox' } as const;
  const secrets = [secret, await revealCallbackSecret(scene.admin, scope)];
  const paths = [
    '/events',
    `/events/${event.id}`,
    `/events/${event.id}/deliveries`,
    `/webhooks/${endpointId}/deliveries`,
  ];
  for (const { id } of data) paths.push(`/deliveries/${id}`);
  const texts = await Promise.all(paths.map(async path => (await shop.get(path)).text));
  for (const { id } of data) texts.push((await shop.post(`/deliveries/${id}/resend`)).text);
  for (const each of secrets) {
    const bytes = Buffer.from(each.slice(6), 'base64');
    const forms = [each.slice(6), bytes.toString('hex'), bytes.toString('base64url')];
    for (const text of texts) for (const form of forms) expect(text).not.toContain(form);
  }
  expect(texts.join()).toContain('v1,');
});

test('a delivery of another account or environment is 404, to whoever asks', async () => {
  const shop = await newcomer();
  const { id: endpointId } = await shop.endpoint(receiver.url);
  await shop.made();
  const { id } = await deliveryOf(shop, endpointId, isDelivered);
  for (const asker of [await newcomer(), eventCalls(scene, shop.account, 'production')]) {
    expectError(await asker.get(`/deliveries/${id}`), 404, 'not_found');
    expectError(await asker.get(`/webhooks/${endpointId}/deliveries`), 404, 'not_found');
  }
  for (const unknown of [`dlv_${'0'.repeat(26)}`, 'dlv_none', '%00', id.toUpperCase(), `evt_${'0'.repeat(26)}`]) {
    expectError(await shop.get(`/deliveries/${unknown}`), 404, 'not_found');
  }
});
