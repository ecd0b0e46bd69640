import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestAccount, TestFlorin } from '../support/florin.ts';
import { expectError, expectInvalid } from './paymentCalls.ts';
import { type Received, startReceivingFlorin, startWebhookReceiver, type WebhookReceiver } from './webhookReceiver.ts';

let scene: TestFlorin;
let account: TestAccount;
let receiver: WebhookReceiver;
beforeAll(async () => {
  ({ scene, receiver } = await startReceivingFlorin());
});
// An account may have fifty endpoints, and these tests together make more.
beforeEach(async () => {
  account = await scene.account();
});
afterEach(() => receiver.reset());

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  scene.client.call(method, `/v1/webhooks${path}`, { key: account.keys.sandbox, body, headers });
const endpointAt = async (url: string): Promise<{ id: string; secret: string }> => {
  const answer = await call('POST', '', { url });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const testOf = (id: string, body?: unknown, headers?: Record<string, string>) =>
  call('POST', `/${id}/test`, body, headers);

/** Verifies as a merchant would: with an independent library and the endpoint's secret. */
const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

describe('a test event', () => {
  test('is not kept: it did not happen, and no replay is to say that it did', async () => {
    const { id } = await endpointAt(`${receiver.url}/hooks`);
    const { eventId } = (await testOf(id, { type: 'payment.completed' })).json;
    const get = (path: string) => scene.client.call('GET', `/v1${path}`, { key: account.keys.sandbox });
    expectError(await get(`/events/${eventId}`), 404, 'not_found');
    const { data } = (await get('/events')).json;
    expect(data.map(({ type }: { type: string }) => type)).toEqual(['account.security']);
    expect((await get(`/webhooks/${id}/deliveries`)).json.data).toEqual([]);
    const range = { from: '2020-01-01', to: '2100-01-01' };
    expect((await call('POST', `/${id}/replay`, range)).json).toEqual({ scheduled: 0 });
  });

  test('is a signed POST sent at once, and the answer tells how it went', async () => {
    const { id, secret } = await endpointAt(`${receiver.url}/hooks?a=1`);
    const answer = await testOf(id);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toEqual({
      eventId: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
      delivered: true,
      statusCode: 200,
      durationMs: expect.any(Number),
      error: null,
    });
    expect(answer.json.durationMs).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(answer.json.durationMs)).toBe(true);

    expect(receiver.received).toHaveLength(1);
    const [received] = receiver.received as [Received];
    expect([received.method, received.path]).toEqual(['POST', '/hooks?a=1']);
    expect(received.headers['content-type']).toMatch(/^application\/json/);
    expect(received.headers['webhook-id']).toBe(answer.json.eventId);
    expect(received.headers['webhook-timestamp']).toMatch(/^\d{10}$/);
    expect(received.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(received.headers.authorization).toBeUndefined();
    expect(verify(secret, received)).toEqual({
      id: answer.json.eventId,
      type: 'webhook.test',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      apiVersion: 'v1',
      environment: 'sandbox',
      sequence: expect.any(Number),
      data: expect.any(Object),
      previous: { status: null, exception: null },
    });
  });

  test('changed by one byte, or checked with another secret, does not verify', async () => {
    const { id, secret } = await endpointAt(receiver.url);
    const other = await endpointAt(receiver.url);
    await testOf(id);
    const [received] = receiver.received as [Received];
    expect(() => verify(other.secret, received)).toThrow();
    expect(() => verify(secret, { ...received, body: received.body.replace('v1', 'v2') })).toThrow();
    const headers = { ...received.headers, 'webhook-id': 'evt_other' };
    expect(() => verify(secret, { ...received, headers })).toThrow();
  });

  test('has a new id each time', async () => {
    const { id } = await endpointAt(receiver.url);
    expect((await testOf(id)).json.eventId).not.toBe((await testOf(id)).json.eventId);
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    'payment.created',
    'payment.detected',
    'payment.underpaid',
    'payment.confirming',
    'payment.completed',
    'payment.overpaid',
    'payment.expired',
    'payment.late',
    'payment.canceled',
    'payment.reverted',
    'payment.reversed',
    'payment.stray',
    'webhook.test',
  ])('can be of the type %s', async type => {
    const { id, secret } = await endpointAt(receiver.url);
    expect((await testOf(id, { type })).json.delivered).toBe(true);
    const event = verify(secret, receiver.received[0]!) as { type: string; data: { id?: string; status?: string } };
    expect(event.type).toBe(type);
    if (type !== 'webhook.test') {
      expect(event.data.id).toMatch(/^pay_/);
      expect(event.data.status).toMatch(/^(pending|confirming|completed|expired|canceled|reversed)$/);
    }
  });

  test('of an unknown type, or with more than a type, is refused and nothing is sent', async () => {
    const { id } = await endpointAt(receiver.url);
    expectInvalid(await testOf(id, { type: 'payment.paid' }), 'type');
    expectInvalid(await testOf(id, { kind: 'webhook.test' }), 'kind');
    expect(receiver.received).toEqual([]);
  });

  test('under an Idempotency-Key is sent once', async () => {
    const { id } = await endpointAt(receiver.url);
    const headers = { 'idempotency-key': 'test-1' };
    const first = await testOf(id, {}, headers);
    const second = await testOf(id, {}, headers);
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(receiver.received).toHaveLength(1);
  });
});

const rotate = async (id: string): Promise<string> => (await call('POST', `/${id}/rotate`)).json.secret;

/** Ends the overlap of an old secret; place 1 is the newest. */
const endOverlap = (id: string, place: number) =>
  scene.admin.db.query(
    {
      name: 'test-end-overlap',
      text: `update webhook_endpoints set previous_secrets_until[$2] = clock_timestamp() - interval '1 second' where id = $1`,
    },
    [id, place],
  );

describe('during a rotation', () => {
  test('both secrets sign; when the day is over, the new one alone', async () => {
    const { id, secret: old } = await endpointAt(receiver.url);
    const { secret: fresh } = (await call('POST', `/${id}/rotate`)).json;
    await testOf(id);
    const [during] = receiver.received as [Received];
    expect(String(during.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(verify(fresh, during)).toBeTruthy();
    expect(verify(old, during)).toBeTruthy();
    const [row] = await scene.admin.db.query<{ hours: number }>(
      {
        name: 'test-overlap',
        text: `select extract(epoch from previous_secrets_until[1] - clock_timestamp())::float8 / 3600 as hours
          from webhook_endpoints where id = $1`,
      },
      [id],
    );
    expect(row!.hours).toBeGreaterThan(23.9);
    expect(row!.hours).toBeLessThanOrEqual(24);

    await endOverlap(id, 1);
    await testOf(id);
    const after = receiver.received[1]!;
    expect(String(after.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verify(fresh, after)).toBeTruthy();
    expect(() => verify(old, after)).toThrow();
  });

  test('a second rotation within the day takes nothing from the first: each secret has a day of its own', async () => {
    const { id, secret: first } = await endpointAt(receiver.url);
    const second = await rotate(id);
    const third = await rotate(id);
    await testOf(id);
    const during = receiver.received[0]!;
    expect(String(during.headers['webhook-signature']).split(' ')).toHaveLength(3);
    for (const secret of [first, second, third]) expect(verify(secret, during)).toBeTruthy();

    await endOverlap(id, 2);
    await testOf(id);
    const after = receiver.received[1]!;
    for (const secret of [second, third]) expect(verify(secret, after)).toBeTruthy();
    expect(() => verify(first, after)).toThrow();
  });

  test('five old secrets sign along at most, and the oldest goes first', async () => {
    const { id, secret } = await endpointAt(receiver.url);
    const secrets = [secret];
    for (let i = 0; i < 6; i++) secrets.push(await rotate(id));
    await testOf(id);
    const received = receiver.received[0]!;
    expect(String(received.headers['webhook-signature']).split(' ')).toHaveLength(6);
    expect(() => verify(secrets[0]!, received)).toThrow();
    for (const each of secrets.slice(1)) expect(verify(each, received)).toBeTruthy();
  });
});

describe('an undelivered test event is an answer, not an error', () => {
  test.each([400, 404, 410, 500, 503])('the receiver answers %i', async statusCode => {
    receiver.answer = response => response.writeHead(statusCode).end('no');
    const { id } = await endpointAt(receiver.url);
    const answer = await testOf(id);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ delivered: false, statusCode, error: expect.stringMatching(/\S/) });
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async statusCode => {
    receiver.answer = response => response.writeHead(statusCode, { location: `${receiver.url}/elsewhere` }).end();
    const { id } = await endpointAt(`${receiver.url}/hooks`);
    expect((await testOf(id)).json).toMatchObject({ delivered: false, statusCode, error: expect.stringMatching(/\S/) });
    expect(receiver.received.map(each => each.path)).toEqual(['/hooks']);
  });

  test('nobody listens there', async () => {
    const gone = await startWebhookReceiver();
    await gone.close();
    const { id } = await endpointAt(gone.url);
    expect((await testOf(id)).json).toMatchObject({
      delivered: false,
      statusCode: null,
      error: expect.stringMatching(/refused/),
    });
  });

  test('the receiver hangs up without an answer', async () => {
    receiver.answer = response => response.socket!.destroy();
    const { id } = await endpointAt(receiver.url);
    expect((await testOf(id)).json).toMatchObject({ delivered: false, statusCode: null, error: expect.any(String) });
  });

  test('a disabled endpoint can be tested', async () => {
    const { id } = await endpointAt(receiver.url);
    await call('PATCH', `/${id}`, { status: 'disabled' });
    expect((await testOf(id)).json.delivered).toBe(true);
  });

  test('Florin never calls its own listeners, however they are written', async () => {
    const ports = (['production', 'sandbox'] as const).map(each => new URL(scene.florin.urls[each]).port);
    const chain = JSON.parse(await readFile(join(scene.config.dataDir, 'devchain.json'), 'utf8')) as { port: number };
    for (const port of [...ports, chain.port]) {
      for (const host of ['localhost', '127.0.0.1', '127.1', '[::1]', 'x.localhost']) {
        for (const scheme of ['https', 'http']) {
          const { id } = await endpointAt(`${scheme}://${host}:${port}/healthz`);
          const { delivered, statusCode, error } = (await testOf(id)).json;
          expect({ delivered, statusCode }, `${scheme}://${host}`).toEqual({ delivered: false, statusCode: null });
          expect(error).toMatch(/own/);
        }
      }
    }
  });

  test('an endpoint of somebody else is 404 and nothing is sent', async () => {
    const { id } = await endpointAt(receiver.url);
    const stranger = await scene.account();
    const answer = await scene.client.call('POST', `/v1/webhooks/${id}/test`, { key: stranger.keys.sandbox });
    expectError(answer, 404, 'not_found');
    expect(receiver.received).toEqual([]);
  });
});
