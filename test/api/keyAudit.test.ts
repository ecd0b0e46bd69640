import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let account: TestAccount;
let key: { id: string; key: string };
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  key = await scene.key(account.id, 'sandbox');
});

const send = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, headers = {}) => {
  const answer = await scene.client.call(method, `/v1${path}`, { key: key.key, headers, ...(body ? { body } : {}) });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
type KeyRow = { action: string; subject: string | null; actorId: string; detail: object };
const rowsOf = (): Promise<KeyRow[]> => {
  const text = `select action, subject, actor_id as "actorId", detail from audit_log
    where account_id = $1 and actor_kind = 'key' order by sequence`;
  return scene.admin.db.query<KeyRow>({ name: 'test-key-rows', text }, [account.id]);
};
/** What these requests add to the log. */
const added = async (work: () => Promise<unknown>) => {
  const before = (await rowsOf()).length;
  await work();
  return (await rowsOf()).slice(before).map(({ action, subject, actorId }) => ({ action, subject, by: actorId }));
};
/** Nothing listens there. */
const url = 'https://localhost:1/hook';

test('each change of an endpoint by a key is one row, with the key and the endpoint', async () => {
  let id = '';
  const by = key.id;
  expect(
    await added(async () => {
      ({ id } = await send('POST', '/webhooks', { url }));
      await send('PATCH', `/webhooks/${id}`, { description: 'Till' });
      await send('PATCH', `/webhooks/${id}`, { description: 'Till' });
      await send('POST', `/webhooks/${id}/rotate`);
      await send('POST', `/webhooks/${id}/replay`, { from: '2026-01-01', to: '2026-01-02' });
      await send('DELETE', `/webhooks/${id}`);
    }),
  ).toEqual([
    { action: 'webhook.created', subject: id, by },
    { action: 'webhook.changed', subject: id, by },
    { action: 'secret.rotated', subject: id, by },
    { action: 'webhook.replayed', subject: id, by },
    { action: 'webhook.deleted', subject: id, by },
  ]);
  expect(JSON.stringify(await rowsOf())).not.toContain('whsec_');
});

test('canceling is one row, once, however often it is repeated with its key', async () => {
  const { id } = await paymentCalls(scene, account).made();
  const headers = { 'idempotency-key': 'cancel-once' };
  const cancel = () => send('POST', `/payments/${id}/cancel`, {}, headers);
  expect(await added(() => Promise.all([cancel(), cancel().catch(() => null)]))).toEqual([
    { action: 'payment.canceled', subject: id, by: key.id },
  ]);
  expect(await added(cancel)).toEqual([]);
});

test('a refusal is no row', async () => {
  const { id } = await paymentCalls(scene, account).made();
  expect(
    await added(async () => {
      const refused = await scene.client.call('POST', `/v1/payments/${id}/resolve`, {
        key: key.key,
        body: { action: 'accept' },
      });
      expect(refused.status).toBe(409);
    }),
  ).toEqual([]);
});

test('creating, simulating and testing are not recorded one by one', async () => {
  const { id } = await send('POST', '/webhooks', { url });
  expect(
    await added(async () => {
      const payment = await send('POST', '/payments', { amount: '1', currency: 'USDC', network: 'base' });
      await send('POST', `/sandbox/payments/${payment.id}/simulate`, { outcome: 'paid' });
      await send('POST', `/webhooks/${id}/test`);
    }),
  ).toEqual([]);
});
