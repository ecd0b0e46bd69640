import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type CheckoutScene, startCheckoutScene } from './checkoutScene.ts';

let scene: CheckoutScene;
let id: string;
beforeAll(async () => {
  scene = await startCheckoutScene({ perAddress: 3, open: 5 });
  id = (await scene.calls.made()).id;
});

const from = (address: string) => scene.live(id, { headers: { 'x-forwarded-for': address } });

test('more pages from one address than one may have are refused, and more than all may', async () => {
  const mine = [await from('203.0.113.1'), await from('203.0.113.1'), await from('203.0.113.1')];
  const refused = await from('203.0.113.1');
  expect([refused.status, refused.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
  const others = [await from('203.0.113.2'), await from('203.0.113.2')];
  expect([...mine, ...others].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const full = await from('203.0.113.3');
  expect([full.status, full.headers['retry-after']]).toEqual([503, '2']);
  // A refused client can still poll.
  const polled = await scene.get(`${id}/main`, { headers: { 'x-forwarded-for': '203.0.113.3' } });
  expect(polled.status).toBe(200);
  mine[0]!.close();
  const again = await until(
    () => from('203.0.113.1'),
    ({ status }) => status === 200,
  );
  for (const live of [...mine, ...others, again]) live.close();
});

test('what is closed leaves all of its room', async () => {
  const fill = () => Promise.all(Array.from({ length: 5 }, (_, i) => from(`203.0.113.${10 + (i % 2)}`)));
  for (let turn = 0; turn < 3; turn++) {
    const all = await until(fill, opened => {
      const isFree = opened.every(({ status }) => status === 200);
      if (!isFree) for (const live of opened) live.close();
      return isFree;
    });
    for (const live of all) live.close();
  }
});

test('nobody takes all the room with one payment', async () => {
  const own = await startCheckoutScene({ perPayment: 2 });
  const [known, other] = [await own.calls.made(), await own.calls.made()];
  const open = (of: string, address: string) => own.live(of, { headers: { 'x-forwarded-for': address } });
  const pages = [await open(known.id, '203.0.113.1'), await open(known.id, '203.0.113.2')];
  expect((await open(known.id, '203.0.113.3')).status).toBe(429);
  pages.push(await open(other.id, '203.0.113.3'));
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const page of pages) page.close();
  await own.stop();
});
