import { beforeAll, expect, test } from 'vitest';
import { operatorActor } from '../../src/engine/audit/audit.ts';
import { perform } from '../../src/engine/perform.ts';
import { removeEndpoint } from '../../src/engine/webhooks/webhookEndpoints.ts';
import { type DeliveryScene, startDeliveryScene } from '../deliveries/deliveryScene.ts';
import { eventOf, type Receiver, startReceiver } from '../deliveries/receiver.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';
import { performed } from './performed.ts';

/** Nothing is sent unless a test starts a process that delivers. */
let scene: DeliveryScene;
beforeAll(async () => {
  scene = await startDeliveryScene({ roles: 'api' });
});

const named = { events: ['account.security'] };
/** The alerts and security events that arrived, by what happened. */
const told = ({ received }: Receiver, action: string): number =>
  received.filter(each => (eventOf(each).data as unknown as { action: string }).action === action).length;
const farewells = async () => (await scene.sql(`select failures from outbox where kind = 'farewell'`)) as object[];

test('endpoints that are made and deleted in a row have five farewells, and an older one still has its own', async () => {
  const merchant = await scene.merchant();
  const older = await merchant.endpoint('http://127.0.0.1:9/older', named);
  for (let n = 0; n < 7; n++) {
    const { id } = await merchant.endpoint(`http://127.0.0.1:9/${n}`, named);
    await merchant.call('DELETE', `/webhooks/${id}`);
  }
  expect(await farewells()).toHaveLength(5);
  const { admin } = scene.florin;
  const tomorrow = { ...admin, clock: { ...admin.clock, nowMs: () => Date.now() + 25 * 3_600_000 } };
  const scope = { accountId: merchant.account.id, environment: 'sandbox' } as const;
  const acting = { scope, actor: operatorActor, address: null };
  await perform(admin, acting, null, removeEndpoint(tomorrow, older.id));
  expect(await farewells()).toHaveLength(6);
  await scene.sql('delete from outbox returning id');
});

test('an endpoint that hangs at its farewell holds up neither another nor an alert', async () => {
  const hanging = await startReceiver(() => {});
  const [operator, quick] = [await startReceiver(), await startReceiver()];
  const merchant = await scene.merchant();
  const goodbye = async (url: string): Promise<void> => {
    const { id } = await merchant.endpoint(url, named);
    await merchant.call('DELETE', `/webhooks/${id}`);
  };
  await goodbye(hanging.url);
  await startSecondFlorin(scene.florin.config.database!.url, { ...scene.deliverer, FLORIN_ALERT_URL: operator.url });
  await eventually(() => expect(told(hanging, 'webhook.deleted')).toBe(1));
  await performed(scene.florin.admin, merchant.account.id, { action: 'wallet.set', environment: 'production' });
  await goodbye(quick.url);
  await eventually(() => expect(told(quick, 'webhook.deleted')).toBe(1));
  await eventually(() => expect(told(operator, 'wallet.set')).toBe(1));
  // The first attempt still hangs.
  await eventually(async () => expect(await farewells()).toEqual([{ failures: 0 }]));
  hanging.release(200);
});
