import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DeliveryScene, type Merchant, startDeliveryScene } from '../deliveries/deliveryScene.ts';
import { eventOf, type Received, type Receiver, verify } from '../deliveries/receiver.ts';
import { eventually } from '../support/until.ts';
import { performed } from './performed.ts';

let scene: DeliveryScene;
let merchant: Merchant;
let receiver: Receiver;
beforeAll(async () => {
  scene = await startDeliveryScene();
});
beforeEach(async () => {
  merchant = await scene.merchant();
  receiver = await scene.receiver();
});

type Security = {
  id: string;
  type: string;
  data: { action: string; actor: object; subject: string | null; at: string };
};
const bodies = (from = receiver): Security[] => from.received.map(each => eventOf(each) as unknown as Security);
const actions = (from = receiver): string[] => bodies(from).map(({ data }) => data.action);
const told = (action: string, from = receiver): Promise<Received> =>
  eventually(() => {
    const found = from.received.find(each => (eventOf(each) as unknown as Security).data.action === action);
    expect(found, actions(from).join()).toBeDefined();
    return found!;
  });
const replayed = async ({ id }: { id: string }, scheduled: number): Promise<void> => {
  const [from, to] = [-1, 1].map(hours => new Date(Date.now() + hours * 3_600_000).toISOString());
  const replay = await merchant.call('POST', `/webhooks/${id}/replay`, { from, to });
  expect(replay.json, replay.text).toMatchObject({ scheduled });
};
const named = { events: ['account.security'] };

describe('an endpoint that names security events', () => {
  test('gets them, signed, without a payment', async () => {
    const { secret } = await merchant.endpoint(receiver.url, named);
    const other = await merchant.endpoint('http://127.0.0.1:9/');
    const found = await eventually(() => {
      const about = receiver.received.find(each => (eventOf(each) as unknown as Security).data.subject === other.id);
      expect(about).toBeDefined();
      return about!;
    });
    expect(verify(secret, found)).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'account.security',
      timestamp: expect.any(String),
      apiVersion: 'v1',
      environment: 'sandbox',
      data: {
        action: 'webhook.created',
        actor: { kind: 'key', id: merchant.account.keyIds.sandbox },
        subject: other.id,
        at: expect.any(String),
      },
    });
  });

  test('hears nothing of the other environment, and of the account as a whole in both', async () => {
    await merchant.endpoint(receiver.url, named);
    const live = { key: merchant.account.keys.production, environment: 'production' } as const;
    const body = { url: 'https://shop.example/live', events: ['account.security'] };
    const made = await scene.florin.client.call('POST', '/v1/webhooks', { ...live, body });
    expect(made.status, made.text).toBe(200);
    await performed(scene.florin.admin, merchant.account.id, { action: 'person.totp_removed', environment: null });
    await told('person.totp_removed');
    expect(bodies().map(({ data }) => data.subject)).not.toContain(made.json.id);
    const { json } = await scene.florin.client.call('GET', '/v1/events?type=account.security', live);
    expect(json.data.map((each: Security) => each.data.action)).toEqual([
      'person.totp_removed',
      'webhook.created',
      'key.created',
    ]);
  });

  test('can list, resend and replay them', async () => {
    const endpoint = await merchant.endpoint(receiver.url, named);
    const first = eventOf(await told('webhook.created')).id;
    const { json } = await merchant.call('GET', '/events');
    expect(json.data).toEqual(bodies());
    const deliveries = await merchant.call('GET', `/events/${first}/deliveries`);
    expect(deliveries.json.data).toMatchObject([{ endpointId: endpoint.id, type: 'account.security' }]);
    const again = await merchant.call('POST', `/deliveries/${deliveries.json.data[0].id}/resend`);
    expect(again.status, again.text).toBe(200);
    await eventually(() => expect(bodies().map(({ id }) => id)).toEqual([first, first]));
    await replayed(endpoint, 1);
    await eventually(() => expect(bodies().map(({ id }) => id)).toEqual([first, first, first]));
  });
});

test('a receiver of all events notices nothing, and a replay brings it nothing', async () => {
  const endpoint = await merchant.endpoint(receiver.url);
  await merchant.endpoint('http://127.0.0.1:9/', named);
  await merchant.call('DELETE', `/webhooks/${(await merchant.endpoint('http://127.0.0.1:9/x')).id}`);
  await replayed(endpoint, 0);
  const { id } = await merchant.calls.made();
  await eventually(() => expect(receiver.events().map(({ data }) => data.id)).toContain(id));
  expect(receiver.events().map(({ type }) => type)).toEqual(['payment.created']);
  expect(await scene.deliveries(endpoint)).toHaveLength(1);
});

describe('whoever was told hears of the end of it', () => {
  test('when the endpoint is deleted', async () => {
    const { id, secret } = await merchant.endpoint(receiver.url, named);
    await merchant.call('DELETE', `/webhooks/${id}`);
    expect(verify(secret, await told('webhook.deleted'))).toMatchObject({ data: { subject: id } });
  });

  test('when it is led elsewhere, at both places', async () => {
    const { id, secret } = await merchant.endpoint(receiver.url, named);
    await told('webhook.created');
    const elsewhere = await scene.receiver();
    await merchant.call('PATCH', `/webhooks/${id}`, { url: elsewhere.url });
    const [here, there] = [await told('webhook.changed'), await told('webhook.changed', elsewhere)];
    expect(verify(secret, here)).toEqual(verify(secret, there));
  });

  test.each([
    ['no longer asked for', { events: ['*'] }],
    ['disabled', { status: 'disabled' }],
  ])('when it is %s', async (_, change) => {
    const { id, secret } = await merchant.endpoint(receiver.url, named);
    await merchant.call('PATCH', `/webhooks/${id}`, change);
    expect(verify(secret, await told('webhook.changed'))).toMatchObject({ data: { subject: id } });
  });

  test('but not twice when nothing ends', async () => {
    const { id } = await merchant.endpoint(receiver.url, named);
    await merchant.call('PATCH', `/webhooks/${id}`, { description: 'Alarm' });
    await merchant.call('DELETE', `/webhooks/${id}`);
    await told('webhook.deleted');
    await eventually(async () => expect(await scene.sql('select id from outbox')).toEqual([]));
    expect(actions().filter(action => action === 'webhook.changed')).toHaveLength(1);
  });
});
