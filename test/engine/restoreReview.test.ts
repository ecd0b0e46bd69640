import { beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { declareRestored } from '../../src/engine/chain/restores.ts';
import { reviewForNobody } from '../../src/engine/chain/reviewRestore.ts';
import { readOpenReview } from '../../src/storage/chain/restoreReviews.ts';
import { expectError, ordinary, paymentCalls } from '../api/paymentCalls.ts';
import { treasury } from '../api/productionScene.ts';
import { startRpcNode } from '../api/rpcNode.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';

const live = { ...ordinary, network: 'ethereum' };
const production = { environment: 'production' } as const;

let chain: Awaited<ReturnType<typeof startRpcNode>>;
let dashboard: TestDashboard;
let owner: DashboardClient;
/** The account of the dashboard, and one that nobody owns. */
let shop: Pick<TestAccount, 'id' | 'keys'>;
let kiosk: TestAccount;

beforeAll(async () => {
  chain = await startRpcNode(1);
  dashboard = await startDashboard({
    configFile: { networks: { production: { ethereum: { rpcUrls: [chain.url] } } } },
  });
  const { scene, accountId, keys } = dashboard;
  owner = await dashboard.as('owner');
  shop = { id: accountId, keys };
  kiosk = await scene.account({ name: 'Kiosk' });
  for (const { id } of [shop, kiosk])
    await setWallet(scene.admin, { accountId: id, ...production }, 'ethereum', { treasury });
  await until(
    () => scene.client.call('GET', '/v1/networks/ethereum', production),
    ({ json }) => json.status === 'operational',
  );
});

const calls = (account: Pick<TestAccount, 'id' | 'keys'>, environment: 'sandbox' | 'production' = 'production') =>
  paymentCalls(dashboard.scene, account as TestAccount, environment);
const declare = () => declareRestored(dashboard.scene.admin, { most: 0 });
const opened = (account: Pick<TestAccount, 'id' | 'keys'>) =>
  until(
    () => calls(account).create(live),
    ({ status }) => status !== 503,
  );
const closed = (account: Pick<TestAccount, 'id' | 'keys'>) =>
  until(
    () => calls(account).create(live),
    ({ status }) => status === 503,
  );
const restoredAt = async () => (await owner.do('GET /announcements')).restoredAt;
const review = async (who: DashboardClient, at: string) =>
  who.call('POST /restore-review', { body: { restoredAt: at } });
const actsOf = async (id: string) => {
  const text = `select action, actor_kind as kind, detail from audit_log where account_id = $1 and action like 'restore.%' order by sequence`;
  return dashboard.scene.admin.db.query<{ action: string; kind: string; detail: object }>(
    { name: 'test-restore-audit', text },
    [id],
  );
};

test('until the review, nothing in production is created or changed; reading and the sandbox work', async () => {
  const { client, admin } = dashboard.scene;
  const kept = await calls(shop).made(live);
  await calls(shop).made({ ...live, currency: 'ETH', amount: '0.5' });
  const key = { key: shop.keys.production, ...production };
  const hook = await client.call('POST', '/v1/webhooks', { ...key, body: { url: 'https://shop.example/hook' } });
  const empty = await createAccount(admin, { name: 'Empty', plan: 'starter', rateLimit: null, burst: null });
  expect((await declare()).inReview).toBe(2);
  expect(await readOpenReview(admin.db, empty.id), 'nothing in production').toBeNull();

  const refused = await closed(shop);
  expectError(refused, 503, 'service_unavailable');
  expect(refused.json.error.message).toContain('an owner has reviewed the account');
  const before = (await calls(shop).list()).json.pagination.total;
  const writes = [
    ['POST', `/v1/payments/${kept.id}/cancel`],
    ['POST', '/v1/webhooks', { url: 'https://shop.example/other' }],
    ['PATCH', `/v1/webhooks/${hook.json.id}`, { description: 'x' }],
    ['DELETE', `/v1/webhooks/${hook.json.id}`],
    ['POST', `/v1/webhooks/${hook.json.id}/rotate`],
  ] as const;
  for (const [method, path, body] of writes)
    expectError(await client.call(method, path, { ...key, ...(body && { body }) }), 503, 'service_unavailable');
  expect((await calls(shop).read(kept.id)).json).toMatchObject({ id: kept.id, status: 'pending' });
  expectError(await calls(shop).create(live), 503, 'service_unavailable');
  expect((await calls(shop).list()).json.pagination.total).toBe(before);
  expect((await client.call('GET', `/v1/webhooks/${hook.json.id}`, key)).json.description).toBeNull();
  await calls(shop, 'sandbox').made();

  const later = await dashboard.scene.account({ name: 'Later' });
  expectError(await calls(later).create(live), 409, 'wallet_required');
});

test('what exists is still watched and completed, and its deliveries are scheduled', async () => {
  const key = { key: shop.keys.production, ...production };
  const [hook] = (await dashboard.scene.client.call('GET', '/v1/webhooks', key)).json.data;
  const [kept] = (await calls(shop).list('currency=ETH')).json.data;
  await chain.node.must({ to: kept.address, value: 5n * 10n ** 17n });
  await until(
    () => calls(shop).read(kept.id),
    ({ json }) => json.status === 'completed',
  );
  const { json } = await dashboard.scene.client.call('GET', `/v1/webhooks/${hook.id}/deliveries`, key);
  expect(json.data.map((each: { type: string }) => each.type)).toContain('payment.completed');
  expectError(await calls(shop).create(live), 503, 'service_unavailable');
});

test('people cannot touch live payments either, and can put everything else in order', async () => {
  await owner.prove();
  const id = (await calls(shop).list()).json.data[0].id as string;
  const created = await owner.call('POST /payments', { ...production, body: live });
  expect([created.status, created.json.error!.code]).toEqual([503, 'service_unavailable']);
  expect((await owner.call('POST /payments/:id/cancel', { ...production, params: { id } })).status).toBe(503);
  expect((await owner.call('POST /payments', { body: ordinary })).status).toBe(200);
  const key = await owner.do('POST /keys', { ...production, body: { name: 'Old', scopes: ['payments:read'] } });
  await owner.do('POST /keys/:id/revoke', { ...production, params: { id: key.id } });
});

test('an owner opens production with a strong proof, nobody else, and only that account', async () => {
  const at = (await restoredAt())!;
  const developer = await dashboard.as('developer');
  expect((await developer.do('GET /announcements')).restoredAt).toBe(at);
  await developer.prove();
  const admin = await dashboard.as('admin');
  await admin.prove();
  for (const each of [developer, admin]) expect((await review(each, at)).status).toBe(403);

  await owner.unprove();
  await owner.do('POST /prove', { body: { password: testPassword } });
  const weak = await review(owner, at);
  expect([weak.status, weak.json.error!.param]).toEqual([403, 'secondFactor']);
  expect(await restoredAt()).toBe(at);

  await owner.prove();
  expect((await review(owner, 'yesterday')).status).toBe(400);
  expect((await review(owner, at)).status).toBe(200);
  expect(await restoredAt()).toBeNull();
  expect((await opened(shop)).status).toBe(200);
  expect((await closed(kiosk)).status).toBe(503);
  expect((await review(owner, at)).status, 'nothing is open').toBe(409);
  expect(await actsOf(shop.id)).toEqual([
    { action: 'restore.declared', kind: 'operator', detail: {} },
    { action: 'restore.reviewed', kind: 'person', detail: { restoredAt: at } },
  ]);
});

test('the operator opens an account without an owner, and no other', async () => {
  const { admin } = dashboard.scene;
  await expect(reviewForNobody(admin, shop.id)).rejects.toThrow('has an owner');
  await expect(reviewForNobody(admin, 'acct_unknown')).rejects.toThrow('No account has the id');
  await reviewForNobody(admin, kiosk.id);
  expect((await opened(kiosk)).status).toBe(200);
  await expect(reviewForNobody(admin, kiosk.id)).rejects.toThrow('No review after a restore is open');
  expect(await actsOf(kiosk.id)).toMatchObject([
    { action: 'restore.declared', kind: 'operator' },
    { action: 'restore.reviewed', kind: 'operator' },
  ]);
});

test('each restore is reviewed by itself, and the page of the one before opens nothing', async () => {
  await declare();
  const first = (await restoredAt())!;
  const backupAt = new Date('2026-01-02T03:04:05.000Z');
  await declareRestored(dashboard.scene.admin, { most: 0, backupAt });
  const second = (await restoredAt())!;
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
  await owner.prove();
  const stale = await review(owner, first);
  expect([stale.status, stale.json.error!.message]).toEqual([409, expect.stringContaining('restored again')]);
  expect((await closed(shop)).status).toBe(503);
  expect((await review(owner, second)).status).toBe(200);
  expect((await opened(shop)).status).toBe(200);
  expect((await actsOf(shop.id)).slice(-3)).toEqual([
    { action: 'restore.declared', kind: 'operator', detail: {} },
    { action: 'restore.declared', kind: 'operator', detail: { backupAt: backupAt.toISOString() } },
    { action: 'restore.reviewed', kind: 'person', detail: { restoredAt: second } },
  ]);
});
