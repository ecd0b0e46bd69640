import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EventCalls, eventCalls } from '../api/eventCalls.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { until } from '../support/until.ts';

/** One Florin serves and does not deliver; what leaves is sent by another, of the role deliver alone. */
const masterKey = randomBytes(32).toString('hex');
let scene: TestFlorin;
let receiver: WebhookReceiver;
let shop: EventCalls;
let stopDelivering = async (): Promise<void> => {};
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  scene = await startTestFlorin({ env: { FLORIN_MASTER_KEY: masterKey } });
});
beforeEach(async () => {
  shop = eventCalls(scene, await scene.account());
});
afterEach(() => stopDelivering());

const loopbackUrls = () => {
  const { production, sandbox } = scene.florin.urls;
  return { FLORIN_PUBLIC_URL: production, FLORIN_SANDBOX_PUBLIC_URL: sandbox };
};

const deliverAs = async (env: Record<string, string>): Promise<void> => {
  const settings = { FLORIN_ROLES: 'deliver', FLORIN_MASTER_KEY: masterKey, ...env };
  ({ stop: stopDelivering } = await startSecondFlorin(scene.config.database!.url, settings));
};

const latestTo = async (endpointId: string) => {
  const [delivery] = await until(
    () => shop.deliveries(endpointId),
    ([each]) => each?.attempts > 0,
  );
  return shop.got(`/deliveries/${delivery.id}`);
};

test('it sends what another process writes, to loopback where every public URL is loopback', async () => {
  await deliverAs(loopbackUrls());
  const { id } = await shop.endpoint(receiver.url);
  await shop.made();
  expect(await latestTo(id)).toMatchObject({ status: 'succeeded', log: [{ statusCode: 200 }] });
});

test.each([
  ['the sandbox', { FLORIN_SANDBOX_PUBLIC_URL: 'https://sandbox.shop.example' }],
  ['production', { FLORIN_PUBLIC_URL: 'https://pay.shop.example' }],
  ['the checkout', { FLORIN_CHECKOUT_URL: 'https://pay.shop.example/checkout' }],
])('it calls nothing on loopback where %s is elsewhere', async (_, elsewhere) => {
  await deliverAs({ ...loopbackUrls(), ...elsewhere, FLORIN_TRUSTED_PROXIES: '127.0.0.1' });
  const { id } = await shop.endpoint(receiver.url);
  await shop.made();
  const sent = receiver.received.length;
  expect(await latestTo(id)).toMatchObject({ status: 'scheduled', log: [{ error: 'address is not allowed' }] });
  expect(receiver.received).toHaveLength(sent);
});

test('it does not call the process that serves, whose ports are not its own', async () => {
  await deliverAs(loopbackUrls());
  const { port } = new URL(scene.florin.urls.sandbox);
  const { id } = await shop.endpoint(`http://127.0.0.1:${port}/healthz`);
  await shop.made();
  expect(await latestTo(id)).toMatchObject({ log: [{ statusCode: null, error: "address is one of Florin's own" }] });
});
