import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

/** Nothing listens on this port: these tests check the rows, not the sending. */
const urlOf = (name: string): string => `http://127.0.0.1:9/${name}`;

const newcomer = async (): Promise<{ account: TestAccount; calls: PaymentCalls }> => {
  const account = await scene.account();
  return { account, calls: paymentCalls(scene, account) };
};

const endpoint = async (account: TestAccount, body: { url: string; events?: string[] }): Promise<string> => {
  const answer = await scene.client.call('POST', '/v1/webhooks', { key: account.keys.sandbox, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.id;
};

type EventRow = {
  id: string;
  sequence: number;
  type: string;
  status: string;
  exception: string | null;
  previous_status: string | null;
  previous_exception: string | null;
  body: string;
  created_ms: string;
};
const eventsOf = (paymentId: string): Promise<EventRow[]> =>
  scene.admin.db.query<EventRow>(
    {
      name: 'test-events',
      text: `select id, sequence, type, status, exception, previous_status, previous_exception, body,
        extract(epoch from created_at) * 1000 as created_ms from events where payment_id = $1 order by sequence`,
    },
    [paymentId],
  );

type DeliveryRow = { type: string; endpoint_id: string | null; callback_url: string | null };
const deliveriesOf = (paymentId: string): Promise<DeliveryRow[]> =>
  scene.admin.db.query<DeliveryRow>(
    {
      name: 'test-deliveries',
      text: `select e.type, d.endpoint_id, d.callback_url from deliveries d join events e on e.id = d.event_id
        where e.payment_id = $1 order by e.sequence, d.endpoint_id nulls last`,
    },
    [paymentId],
  );
const targetsOf = async (paymentId: string): Promise<string[]> =>
  (await deliveriesOf(paymentId)).map(row => `${row.type} ${row.endpoint_id ?? row.callback_url}`);

describe('history', () => {
  test('creation and cancel have one event each, numbered from 1, with what was before', async () => {
    const { calls } = await newcomer();
    const payment = await calls.made({ metadata: { price: 1.5 } });
    const canceled = (await calls.act(payment.id, 'cancel')).json;
    const events = await eventsOf(payment.id);
    expect(events).toMatchObject([
      { sequence: 1, type: 'payment.created', status: 'pending', previous_status: null, previous_exception: null },
      { sequence: 2, type: 'payment.canceled', status: 'canceled', previous_status: 'pending', exception: null },
    ]);
    expect(events.map(event => JSON.parse(event.body))).toEqual([
      {
        id: events[0]!.id,
        type: 'payment.created',
        timestamp: payment.createdAt,
        apiVersion: 'v1',
        environment: 'sandbox',
        sequence: 1,
        data: payment,
        previous: { status: null, exception: null },
      },
      {
        id: events[1]!.id,
        type: 'payment.canceled',
        timestamp: canceled.canceledAt,
        apiVersion: 'v1',
        environment: 'sandbox',
        sequence: 2,
        data: canceled,
        previous: { status: 'pending', exception: null },
      },
    ]);
    for (const event of events) {
      expect(event.id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(Number(event.created_ms)).toBe(Date.parse(JSON.parse(event.body).timestamp));
    }
  });

  test('expiry has one event', async () => {
    const { calls } = await newcomer();
    const { id } = await calls.made({ expiresIn: 1 });
    const expired = await until(
      () => calls.read(id),
      answer => answer.json.status === 'expired',
    );
    const events = await eventsOf(id);
    expect(events.map(({ sequence, type, previous_status }) => [sequence, type, previous_status])).toEqual([
      [1, 'payment.created', null],
      [2, 'payment.expired', 'pending'],
    ]);
    expect(JSON.parse(events[1]!.body)).toMatchObject({ data: expired.json, previous: { status: 'pending' } });
  });

  test('refused requests leave no event', async () => {
    const { calls } = await newcomer();
    const { id } = await calls.made({ externalId: 'one' });
    await calls.create({ amount: '1', currency: 'USDC', network: 'base', externalId: 'one' });
    await calls.create({ amount: '0', currency: 'USDC', network: 'base' });
    await calls.act(id, 'resolve', { body: { action: 'accept' } });
    const count = { name: 'test-count', text: 'select count(*)::int as n from events where payment_id = $1' };
    expect(await scene.admin.db.query(count, [id])).toEqual([{ n: 1 }]);
  });
});

describe('deliveries', () => {
  test('are made for every enabled endpoint that subscribed to the kind, and for no other', async () => {
    const { account, calls } = await newcomer();
    const all = await endpoint(account, { url: urlOf('all') });
    const created = await endpoint(account, { url: urlOf('created'), events: ['payment.created'] });
    const ended = await endpoint(account, { url: urlOf('ended'), events: ['payment.expired', 'payment.canceled'] });
    await endpoint(account, { url: urlOf('paid'), events: ['payment.completed'] });
    const { id } = await calls.made();
    await calls.act(id, 'cancel');
    expect(await targetsOf(id)).toEqual([
      ...[all, created].sort().map(target => `payment.created ${target}`),
      ...[all, ended].sort().map(target => `payment.canceled ${target}`),
    ]);
  });

  test('are not made for endpoints that are deleted, disabled, of another account or of the other environment', async () => {
    const { account, calls } = await newcomer();
    const gone = await endpoint(account, { url: urlOf('gone') });
    const off = await endpoint(account, { url: urlOf('off') });
    await endpoint((await newcomer()).account, { url: urlOf('foreign') });
    const key = account.keys.sandbox;
    expect((await scene.client.call('DELETE', `/v1/webhooks/${gone}`, { key })).status).toBe(200);
    await scene.admin.db.query(
      { name: 'test-off', text: `update webhook_endpoints set status = 'disabled' where id = $1` },
      [off],
    );
    const live = {
      key: account.keys.production,
      environment: 'production',
      body: { url: 'https://m.example/' },
    } as const;
    expect((await scene.client.call('POST', '/v1/webhooks', live)).status).toBe(200);
    const { id } = await calls.made();
    await calls.act(id, 'cancel');
    expect(await targetsOf(id)).toEqual([]);
  });

  test('go to callbackUrl for each event of its payment', async () => {
    const { calls } = await newcomer();
    const { id } = await calls.made({ callbackUrl: urlOf('callback') });
    const other = await calls.made();
    await calls.act(id, 'cancel');
    expect(await targetsOf(id)).toEqual([
      `payment.created ${urlOf('callback')}`,
      `payment.canceled ${urlOf('callback')}`,
    ]);
    expect(await targetsOf(other.id)).toEqual([]);
  });

  test('are made once when callbackUrl equals an enabled endpoint that subscribed to the kind', async () => {
    const { account, calls } = await newcomer();
    const same = await endpoint(account, { url: urlOf('same'), events: ['payment.created', 'payment.expired'] });
    const { id } = await calls.made({ callbackUrl: urlOf('same'), expiresIn: 1 });
    await until(
      () => calls.read(id),
      answer => answer.json.status === 'expired',
    );
    expect(await targetsOf(id)).toEqual([`payment.created ${same}`, `payment.expired ${same}`]);
  });

  test('are made to callbackUrl still when the endpoint of that address did not subscribe to the kind, or is disabled', async () => {
    const { account, calls } = await newcomer();
    const same = await endpoint(account, { url: urlOf('same'), events: ['payment.created'] });
    const { id } = await calls.made({ callbackUrl: urlOf('same') });
    await calls.act(id, 'cancel');
    expect(await targetsOf(id)).toEqual([`payment.created ${same}`, `payment.canceled ${urlOf('same')}`]);
    await scene.admin.db.query(
      { name: 'test-off', text: `update webhook_endpoints set status = 'disabled' where id = $1` },
      [same],
    );
    const later = await calls.made({ callbackUrl: urlOf('same') });
    expect(await targetsOf(later.id)).toEqual([`payment.created ${urlOf('same')}`]);
  });

  test('have an id and are due at once', async () => {
    const { calls } = await newcomer();
    const { id } = await calls.made({ callbackUrl: urlOf('callback') });
    const [row] = await scene.admin.db.query<{ id: string; due: boolean }>(
      {
        name: 'test-due',
        text: `select d.id, d.attempts > 0 or d.next_attempt_at <= e.created_at as due
          from deliveries d join events e on e.id = d.event_id where e.payment_id = $1`,
      },
      [id],
    );
    expect(row!.id).toMatch(/^dlv_[0-9a-z]{26}$/);
    expect(row!.due).toBe(true);
  });
});
