import { afterAll, beforeAll, expect, test } from 'vitest';
import { setWallet } from '../../src/engine/accounts.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { attributeOf, tokenOf } from './checkoutScene.ts';
import { type PaymentCalls, paymentCalls, until } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';

const treasury = '0x00000000000000000000000000000000DeaDBeef';

let scene: TestFlorin;
let node: Awaited<ReturnType<typeof startRpcNode>>;
let account: TestAccount;
let calls: PaymentCalls;
beforeAll(async () => {
  node = await startRpcNode(1);
  scene = await startTestFlorin({
    configFile: { networks: { production: { ethereum: { rpcUrls: [node.url] } } } },
    live: { pollMs: 50 },
  });
  account = await scene.account();
  calls = paymentCalls(scene, account, 'production');
  await setWallet(scene.admin, { accountId: account.id, environment: 'production' }, 'ethereum', { treasury });
  await until(
    () => scene.client.call('GET', '/v1/networks/ethereum', { environment: 'production' }),
    answer => answer.json.status === 'operational',
  );
});
afterAll(async () => {
  await scene.stop();
  await node.close();
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

test('a network that falls behind shows on the page', async () => {
  const { id } = await calls.made({ network: 'ethereum' });
  const version = async () => attributeOf((await get(`${id}/main`)).text, 'data-version');
  const before = await version();
  await node.close();
  await until(version, now => now !== before);
  expect((await get(id)).status).toBe(200);
});
