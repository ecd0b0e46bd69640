import { beforeAll, expect, test } from 'vitest';
import { makeSettings } from '../support/operator.ts';
import { type CheckoutScene, framePolicy, startCheckoutScene } from './checkoutScene.ts';
import { paymentCalls } from './paymentCalls.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene();
});

test('frames are refused until the merchant names who may', async () => {
  const own = await scene.florin.account();
  const { id } = await paymentCalls(scene.florin, own).made();
  const ancestors = async (path: string) => (await scene.get(path)).headers['content-security-policy'];
  expect(await ancestors(id)).toBe(framePolicy("'none'"));
  const scope = { accountId: own.id, environment: 'sandbox' } as const;
  await makeSettings(scene.florin.admin, scope, {
    checkoutOrigins: ['https://Shop.example/', 'https://shop.example:8443'],
  });
  for (const path of [id, `${id}/main`])
    expect(await ancestors(path)).toBe(framePolicy('https://shop.example https://shop.example:8443'));
  const { id: another } = await scene.calls.made();
  expect(await ancestors(another)).toBe(framePolicy("'none'"));
  await makeSettings(scene.florin.admin, scope, { checkoutOrigins: [] });
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
  'https://shop.example.',
  'https://-shop.example',
  'https://shop-.',
  'https://.',
  `https://${'shop.'.repeat(60)}example`,
  'data:text/html,x',
  '',
])('an origin that is none is refused, by the code and by the database: %s', async origin => {
  const { admin } = scene.florin;
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  await expect(makeSettings(admin, scope, { checkoutOrigins: [origin] })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/ is not an origin\. .* no dot at the end\.$/),
  });
  const text = `update account_settings set checkout_origins = $2 where account_id = $1`;
  await expect(admin.db.query({ name: '', text }, [scope.accountId, [origin]])).rejects.toMatchObject({
    code: '23514',
  });
});

test.each([
  ['https://SHOP.example:443/', 'https://shop.example'],
  ['https://a-b.example:8443', 'https://a-b.example:8443'],
  ['https://[2001:DB8::1]:8443', 'https://[2001:db8::1]:8443'],
  ['https://192.0.2.1', 'https://192.0.2.1'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  [`https://${'s'.repeat(292)}`, `https://${'s'.repeat(292)}`],
])('an origin that is one is taken by both, as browsers write it: %s', async (given, written) => {
  const scope = { accountId: scene.account.id, environment: 'production' } as const;
  const { checkoutOrigins } = await makeSettings(scene.florin.admin, scope, { checkoutOrigins: [given] });
  expect(checkoutOrigins).toEqual([written]);
});
