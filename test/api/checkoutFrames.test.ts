import { afterAll, beforeAll, expect, test } from 'vitest';
import { setCheckoutOrigins } from '../../src/engine/accounts.ts';
import { type CheckoutScene, framePolicy, startCheckoutScene } from './checkoutScene.ts';
import { paymentCalls } from './paymentCalls.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene();
});
afterAll(() => scene.stop());

test('frames are refused until the merchant names who may', async () => {
  const own = await scene.florin.account();
  const { id } = await paymentCalls(scene.florin, own).made();
  const ancestors = async (path: string) => (await scene.get(path)).headers['content-security-policy'];
  expect(await ancestors(id)).toBe(framePolicy("'none'"));
  const scope = { accountId: own.id, environment: 'sandbox' } as const;
  await setCheckoutOrigins(scene.florin.admin, scope, ['https://Shop.example/', 'https://shop.example:8443']);
  for (const path of [id, `${id}/main`])
    expect(await ancestors(path)).toBe(framePolicy('https://shop.example https://shop.example:8443'));
  const { id: another } = await scene.calls.made();
  expect(await ancestors(another)).toBe(framePolicy("'none'"));
  await setCheckoutOrigins(scene.florin.admin, scope, []);
  expect(await ancestors(id)).toBe(framePolicy("'none'"));
});

test.each([
  'http://shop.example',
  'https://*.shop.example',
  '*',
  'https:',
  'https://shop.example/path',
  'https://shop.example?x',
  'https://user@shop.example',
  "https://shop.example; script-src 'unsafe-inline'",
  'https://shop.example https://evil.example',
  'https://shop.example,evil',
  'data:text/html,x',
  '',
])('an origin that is none is refused, by the code and by the database: %s', async origin => {
  const { admin } = scene.florin;
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  await expect(setCheckoutOrigins(admin, scope, [origin])).rejects.toMatchObject({ code: 'invalid_request' });
  const text = `update account_settings set checkout_origins = $2 where account_id = $1`;
  await expect(admin.db.query({ name: '', text }, [scope.accountId, [origin]])).rejects.toMatchObject({
    code: '23514',
  });
});
