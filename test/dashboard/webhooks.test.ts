import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectError, expectInvalid, paymentCalls } from '../api/paymentCalls.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { auditRows } from './auditRows.ts';

let dashboard: TestDashboard;
let receiver: WebhookReceiver;
let developer: DashboardClient;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  dashboard = await startDashboard({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
  developer = await dashboard.as('developer');
});
beforeEach(() => {
  receiver.reset();
  return developer.prove();
});

const create = (body: object = {}) =>
  developer.call('POST /webhooks', { body: { url: `${receiver.url}/hook`, events: ['payment.created'], ...body } });
const made = async (body: object = {}) => {
  const answer = await create(body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const payment = () => {
  const account = { id: dashboard.accountId, keys: dashboard.keys } as TestAccount;
  return paymentCalls(dashboard.scene, account).made();
};
const auditOf = async (subject: string) =>
  (await auditRows(dashboard.scene, dashboard.accountId)).filter(row => row.subject === subject);
const deliveriesOf = (id: string, query: object = {}) =>
  developer.do('GET /webhooks/:id/deliveries', { params: { id }, query });
const remove = (id: string) => developer.do('DELETE /webhooks/:id', { params: { id } });

describe('an endpoint', () => {
  test('is created with a ping, and its secret is in no other answer and no audit row', async () => {
    const { endpoint, secret, ping } = await made({ description: 'Shop' });
    expect(ping).toEqual({ delivered: true, statusCode: 200, durationMs: expect.any(Number), error: null });
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toMatchObject({ description: 'Shop', events: ['payment.created'], status: 'enabled' });
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ type: 'webhook.test', data: { test: true } });
    const list = await developer.call('GET /webhooks');
    expect(list.json.data).toContainEqual(endpoint);
    expect(await developer.do('GET /webhooks/:id', { params: { id: endpoint.id } })).toEqual(endpoint);
    expect(list.text).not.toContain(secret);
    const rows = await auditOf(endpoint.id);
    expect(rows.map(row => row.action)).toEqual(['webhook.created']);
    expect(JSON.stringify(rows)).not.toContain(secret);
    await remove(endpoint.id);
  });

  test('is there even if the ping fails, and the answer says what happened', async () => {
    receiver.answer = response => response.writeHead(503).end();
    const { endpoint, ping } = await made();
    expect(ping).toEqual({
      delivered: false,
      statusCode: 503,
      durationMs: expect.any(Number),
      error: expect.any(String),
    });
    expect((await developer.do('GET /webhooks')).data).toContainEqual(endpoint);
    await remove(endpoint.id);
  });

  test('is changed, with what it was before in the audit log, and deleted', async () => {
    const { endpoint } = await made();
    const params = { id: endpoint.id };
    const changed = await developer.do('PATCH /webhooks/:id', { params, body: { status: 'disabled', events: ['*'] } });
    expect(changed).toMatchObject({ status: 'disabled', events: ['*'], disabledReason: 'disabled by the merchant' });
    await developer.do('PATCH /webhooks/:id', { params, body: { status: 'disabled' } });
    expect(await remove(endpoint.id)).toEqual({ done: true });
    expectError(await developer.call('GET /webhooks/:id', { params }), 404, 'not_found');
    expectError(await developer.call('DELETE /webhooks/:id', { params }), 404, 'not_found');
    expect((await auditOf(endpoint.id)).map(({ action, detail }) => [action, detail])).toEqual([
      ['webhook.created', { url: endpoint.url, events: ['payment.created'] }],
      [
        'webhook.changed',
        { events: { before: ['payment.created'], after: ['*'] }, status: { before: 'enabled', after: 'disabled' } },
      ],
      ['webhook.deleted', { url: endpoint.url }],
    ]);
  });

  test('keeps to the limits that the API has', async () => {
    expectInvalid(await create({ url: 'https://10.0.0.1/hook' }), 'url');
    expectInvalid(await create({ url: 'not an address' }), 'url');
    expectInvalid(await create({ events: ['payment.unheard'] }), 'events.0');
    expect(receiver.received).toEqual([]);
  });

  test('is made, sent elsewhere and deleted after a proof alone', async () => {
    const { endpoint } = await made();
    const params = { id: endpoint.id };
    await developer.unprove();
    expectError(await create(), 403, 'permission_denied', 'proof');
    const elsewhere = { params, body: { url: `${receiver.url}/elsewhere` } };
    expectError(await developer.call('PATCH /webhooks/:id', elsewhere), 403, 'permission_denied', 'proof');
    expectError(await developer.call('DELETE /webhooks/:id', { params }), 403, 'permission_denied', 'proof');
    expect((await developer.do('GET /webhooks')).data).toEqual([endpoint]);
    await developer.prove();
    expect((await developer.do('PATCH /webhooks/:id', elsewhere)).url).toBe(`${receiver.url}/elsewhere`);
    await remove(endpoint.id);
  });

  test('of another account or environment is not there', async () => {
    const { endpoint } = await made();
    const params = { id: endpoint.id };
    const stranger = await dashboard.newPerson('owner', (await dashboard.scene.account()).id);
    await stranger.prove();
    const calls = [
      ['GET /webhooks/:id'],
      ['PATCH /webhooks/:id', { description: 'x' }],
      ['DELETE /webhooks/:id'],
      ['POST /webhooks/:id/reveal'],
      ['POST /webhooks/:id/rotate'],
      ['POST /webhooks/:id/test', { type: 'webhook.test' }],
      ['POST /webhooks/:id/replay', { from: '2026-01-01', to: '2026-01-02' }],
      ['GET /webhooks/:id/deliveries'],
    ] as const;
    for (const [name, body] of calls) {
      const sending = { params, ...(body ? { body } : {}) };
      expectError(await stranger.call(name, sending), 404, 'not_found');
      expectError(await developer.call(name, { ...sending, environment: 'production' }), 404, 'not_found');
    }
    expect(await developer.do('GET /webhooks/:id', { params })).toEqual(endpoint);
    await remove(endpoint.id);
  });
});

describe('a secret', () => {
  test('is revealed after a proof, and the audit log has who saw it', async () => {
    const { endpoint, secret } = await made();
    const params = { id: endpoint.id };
    await developer.unprove();
    expectError(await developer.call('POST /webhooks/:id/reveal', { params }), 403, 'permission_denied', 'proof');
    expectError(await developer.call('POST /webhooks/:id/rotate', { params }), 403, 'permission_denied', 'proof');
    expect((await auditOf(endpoint.id)).map(row => row.action)).toEqual(['webhook.created']);
    await developer.prove();
    expect(await developer.do('POST /webhooks/:id/reveal', { params })).toEqual({ secret });
    const [, revealed] = await auditOf(endpoint.id);
    expect(revealed).toMatchObject({
      action: 'secret.revealed',
      actor: 'Developer 2 <developer2@example.com>',
      environment: 'sandbox',
    });
    expect(JSON.stringify(revealed)).not.toContain(secret.slice(6, 20));
    await remove(endpoint.id);
  });

  test('is rotated, and both sign for a day', async () => {
    const { endpoint, secret } = await made();
    const params = { id: endpoint.id };
    const next = await developer.do('POST /webhooks/:id/rotate', { params });
    expect(next.secret).toMatch(/^whsec_/);
    expect(next.secret).not.toBe(secret);
    expect(await developer.do('POST /webhooks/:id/reveal', { params })).toEqual(next);
    receiver.reset();
    await developer.do('POST /webhooks/:id/test', { params, body: { type: 'payment.completed' } });
    expect(String(receiver.received[0]!.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect((await auditOf(endpoint.id)).map(row => row.action)).toContain('secret.rotated');
    await remove(endpoint.id);
  });
});

test('a test is sent per kind', async () => {
  const { endpoint } = await made();
  for (const type of ['payment.completed', 'payment.reversed'] as const) {
    receiver.reset();
    const sent = await developer.do('POST /webhooks/:id/test', { params: { id: endpoint.id }, body: { type } });
    expect(sent).toEqual({ delivered: true, statusCode: 200, durationMs: expect.any(Number), error: null });
    expect(JSON.parse(receiver.received[0]!.body).type).toBe(type);
  }
  await remove(endpoint.id);
});

describe('a delivery', () => {
  test('is shown with its attempts and both bodies, and is sent again', async () => {
    const { endpoint } = await made();
    receiver.reset();
    receiver.answer = response => response.end('thanks');
    const { id: paymentId } = await payment();
    const { data } = await until(
      () => deliveriesOf(endpoint.id, { status: 'succeeded' }),
      page => page.data.length === 1,
    );
    expect(data[0]).toMatchObject({ type: 'payment.created', paymentId, endpointId: endpoint.id, attempts: 1 });
    const params = { id: data[0]!.id };
    const shown = await developer.do('GET /deliveries/:id', { params });
    const { log, body, ...delivery } = shown;
    expect(delivery).toEqual(data[0]);
    expect(body).toBe(receiver.received[0]!.body);
    const headers = expect.objectContaining({ 'webhook-id': data[0]!.eventId });
    expect(log).toEqual([
      {
        at: expect.any(String),
        request: { url: endpoint.url, headers },
        statusCode: 200,
        error: null,
        durationMs: expect.any(Number),
        response: 'thanks',
      },
    ]);

    const support = await dashboard.as('support');
    expect(await support.do('POST /deliveries/:id/resend', { params })).toMatchObject({ status: 'scheduled' });
    const again = await until(
      () => developer.do('GET /deliveries/:id', { params }),
      ({ status }) => status === 'succeeded',
    );
    expect([again.attempts, again.log.length]).toEqual([2, 2]);
    expect(receiver.received.map(each => each.body)).toEqual([shown.body, shown.body]);
    expect(await auditOf(params.id)).toEqual([
      expect.objectContaining({ action: 'delivery.resent', actor: 'Support 4 <support4@example.com>' }),
    ]);
    await remove(endpoint.id);
    expectError(await support.call('POST /deliveries/:id/resend', { params }), 409, 'conflict');
    expect(await auditOf(params.id)).toHaveLength(1);
  });

  test('is listed from page to page, the newest first', async () => {
    const { endpoint } = await made();
    for (let i = 0; i < 3; i++) await payment();
    const first = await until(
      () => deliveriesOf(endpoint.id, { limit: 2 }),
      page => page.pagination.hasMore,
    );
    const second = await deliveriesOf(endpoint.id, { limit: 2, cursor: first.pagination.nextCursor! });
    const ids = [...first.data, ...second.data].map(row => row.id);
    expect(ids).toHaveLength(3);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(second.pagination).toEqual({ limit: 2, hasMore: false, nextCursor: null });
    const bad = { params: { id: endpoint.id }, query: { cursor: 'x' } };
    expectInvalid(await developer.call('GET /webhooks/:id/deliveries', bad), 'cursor');
    await remove(endpoint.id);
  });

  test('of a time range is made again, and the audit log has it', async () => {
    const { endpoint } = await made();
    const params = { id: endpoint.id };
    const body = { from: '2020-01-01', to: '2099-01-01' };
    const { scheduled } = await developer.do('POST /webhooks/:id/replay', { params, body });
    expect(scheduled).toBeGreaterThan(3);
    const actions = (await auditOf(endpoint.id)).map(row => row.action);
    expect(actions).toEqual(['webhook.created', 'webhook.replayed']);
    const wrong = { params, body: { from: '2026-02-01', to: '2026-01-01' } };
    expectInvalid(await developer.call('POST /webhooks/:id/replay', wrong), 'from');
    await remove(endpoint.id);
    expectError(await developer.call('POST /webhooks/:id/replay', { params, body }), 404, 'not_found');
    expect((await auditOf(endpoint.id)).map(row => row.action)).toEqual([...actions, 'webhook.deleted']);
  });
});
