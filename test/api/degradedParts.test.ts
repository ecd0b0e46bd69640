import { expect, test } from 'vitest';
import type { Call } from '../../src/http/edge/route.ts';
import { systemRoutes } from '../../src/http/v1/systemRoutes.ts';
import { startTestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { paymentCalls } from './paymentCalls.ts';

const scene = await startTestFlorin();

const untilPart = (part: string, status: string) =>
  until(
    () => scene.client.call('GET', '/readyz'),
    ({ json }) => json.parts[part].status === status,
  );

test('the queue is degraded while a first attempt is late', async () => {
  await paymentCalls(scene, await scene.account()).made({ callbackUrl: 'http://127.0.0.1:9/' });
  const due = (change: string) =>
    scene.admin.db.script(`update deliveries set next_attempt_at = clock_timestamp() ${change}`);
  await due(`- interval '2 minutes'`);
  const ready = await untilPart('queue', 'degraded');
  expect([ready.status, ready.json.ready]).toEqual([200, true]);
  await due(`+ interval '1 hour'`);
  await untilPart('queue', 'ok');
});

test('the chains are degraded while one is halted', async () => {
  const halt = (set: string) => scene.admin.db.script(`update chains set ${set} where caip2 = 'eip155:31337'`);
  await halt(`halted_at = clock_timestamp(), halt_reason = 'test'`);
  const ready = await untilPart('chains', 'degraded');
  expect([ready.status, ready.json.ready]).toEqual([200, true]);
  await halt('halted_at = null, halt_reason = null');
  await untilPart('chains', 'ok');
});

test('a process that stops is not ready', async () => {
  const routes = systemRoutes(
    scene.admin.db,
    () => [],
    () => true,
  );
  const { handle } = routes.find(({ path }) => path === '/readyz')!;
  const { status, body } = await handle({ environment: 'sandbox' } as Call);
  expect(status).toBe(503);
  expect(JSON.parse(`${body}`)).toMatchObject({
    ready: false,
    parts: { stopping: { status: 'unavailable' }, database: { status: 'ok' } },
    checks: { stopping: true },
  });
});
