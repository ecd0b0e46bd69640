import { beforeAll, expect, test } from 'vitest';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { attributeOf, tokenOf } from './checkoutScene.ts';
import { type ProductionScene, startProductionScene, treasury } from './productionScene.ts';

let scene: ProductionScene['scene'];
let node: ProductionScene['node'];
let calls: ProductionScene['calls'];
beforeAll(async () => {
  const started = await startProductionScene({ live: { pollMs: 50 } });
  ({ scene, node, calls } = started);
  const scope = { accountId: started.account.id, environment: 'production' } as const;
  await setWallet(scene.admin, scope, 'ethereum', { treasury });
});

const get = (path: string, environment: 'production' | 'sandbox' = 'production') =>
  scene.client.call('GET', `/checkout/${path}`, { environment });

test('a page in production has no way to pretend, and names no node of ours', async () => {
  const { id, address } = await calls.made({ network: 'ethereum' });
  const { status, text } = await get(id);
  expect(status).toBe(200);
  expect(text).toContain(address);
  expect(tokenOf(text)).toBeNull();
  expect(text).not.toContain('simulate');
  expect(text).not.toContain(new URL(node.url).host);
  const posted = await scene.client.call('POST', `/checkout/${id}/simulate`, {
    environment: 'production',
    body: `token=${scene.admin.vault.simulateToken(id)}&outcome=paid`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(posted.status).toBe(404);
  expect((await get(id, 'sandbox')).status).toBe(404);
});

test('a network that falls behind shows on the page', { tags: ['thorough'] }, async () => {
  const { id } = await calls.made({ network: 'ethereum' });
  const version = async () => attributeOf((await get(`${id}/main`)).text, 'data-version');
  const before = await version();
  await node.close();
  await until(version, now => now !== before);
  expect((await get(id)).status).toBe(200);
});
