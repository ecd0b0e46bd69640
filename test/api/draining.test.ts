import { expect, test } from 'vitest';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { startCheckoutScene } from './checkoutScene.ts';

test('a stop first says that it is not ready, serves on, sends pages elsewhere and then ends connections', async () => {
  const scene = await startCheckoutScene({}, { FLORIN_DRAIN_SECONDS: '4' });
  const { florin, calls } = scene;
  const ready = (): Promise<Answer> => florin.client.call('GET', '/readyz');
  const { id } = await calls.made();
  const page = await scene.live(id);
  expect(page.status).toBe(200);
  expect((await ready()).status).toBe(200);

  let isStopped = false;
  const stopped = florin.florin.stop().then(() => {
    isStopped = true;
  });
  const draining = await ready();
  expect(draining.status).toBe(503);
  expect(JSON.parse(draining.text).checks).toEqual({ database: 'ok', stopping: true });

  // Payments are made and read, and new pages open, until the connections end.
  await until(
    async () => {
      const { id: made } = await calls.made();
      return scene.get(`${made}/main`);
    },
    ({ status, headers }) => {
      expect(status).toBe(200);
      return headers.connection === 'close';
    },
  );
  await page.ended;
  expect(page.text()).toMatch(/^retry: \d+\n/);
  expect(isStopped).toBe(false);
  await stopped;
});
