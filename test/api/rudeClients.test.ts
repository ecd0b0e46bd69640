import { beforeAll, expect, test } from 'vitest';
import { createCrowd, type Target } from '../campaigns/rude/crowd.ts';
import { createVisitor } from '../campaigns/rude/visitor.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { Answer } from '../support/send.ts';
import { eventually } from '../support/until.ts';

let dashboard: TestDashboard;
let target: Target;
beforeAll(async () => {
  dashboard = await startDashboard({ env: { FLORIN_CONNECTIONS_PER_ADDRESS: '16' } });
  const { scene, ca, keys } = dashboard;
  const key = keys.sandbox;
  const body = { amount: '25.00', currency: 'USDC', network: 'base', description: 'x'.repeat(900) };
  const made: Answer[] = [];
  // With fewer connections than an address may have.
  const create = async (): Promise<void> => {
    while (made.length < 100) made.push(await scene.client.call('POST', '/v1/payments', { key, body }));
  };
  await Promise.all(Array.from({ length: 8 }, create));
  const { cookie } = await dashboard.as('owner');
  const { sandbox: sandboxUrl, production: productionUrl } = scene.florin.urls;
  target = { sandboxUrl, productionUrl, ca, key, paymentId: made[0]!.json.id, cookie };
});

/** `npm run rude` in small, without its measurements. */
test('a crowd that idles, dawdles and never reads leaves other addresses their service', async () => {
  const crowd = createCrowd(target, { idle: 20, slow: 20, greedy: 10 }, 'a small crowd');
  const visitor = createVisitor(target);
  try {
    await crowd.come();
    expect(await visitor.visit({ requests: 400 })).toMatchObject({ requests: 400, failed: 0 });
    // All came, and those that found no place, or were cut off, came back.
    await eventually(() => expect(crowd.counts().closed).toBeGreaterThan(60));
    expect(await visitor.visit({ requests: 400 })).toMatchObject({ requests: 400, failed: 0 });
  } finally {
    crowd.leave();
    visitor.close();
  }
});
