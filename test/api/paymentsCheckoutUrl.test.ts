import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_CHECKOUT_URL: 'https://pay.merchant.example/c/' } });
});

test('checkoutUrl is the configured address, a slash and the id, in every answer and event', async () => {
  const calls = paymentCalls(scene, await scene.account());
  const { id, checkoutUrl } = await calls.made();
  expect(checkoutUrl).toBe(`https://pay.merchant.example/c/${id}`);
  expect((await calls.read(id)).json.checkoutUrl).toBe(checkoutUrl);
  expect((await calls.list()).json.data[0].checkoutUrl).toBe(checkoutUrl);
  const bodies = { name: 'test-bodies', text: 'select body from events where payment_id = $1' };
  const [event] = await scene.admin.db.query<{ body: string }>(bodies, [id]);
  expect(JSON.parse(event!.body).data.checkoutUrl).toBe(checkoutUrl);
});
