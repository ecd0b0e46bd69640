import { beforeAll, expect, test } from 'vitest';
import { createSetupLink } from '../../src/engine/access/createSetupLink.ts';
import { operatorActor } from '../../src/engine/audit/audit.ts';
import { startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const newLink = async (): Promise<{ accountId: string; token: string }> => {
  const { id: accountId } = await dashboard.scene.account({ name: 'Fresh' });
  const { token } = await createSetupLink(dashboard.scene.admin, accountId, operatorActor);
  return { accountId, token };
};

let people = 0;
const use = (token: string, more: Record<string, string> = {}) => {
  people += 1;
  const body = { token, name: 'Ada', email: `ada${people}@example.com`, password: testPassword, ...more };
  return dashboard.stranger().call('POST /setup', { body });
};

test('a setup link makes the owner, who is signed in, once', async () => {
  const { accountId, token } = await newLink();
  const client = dashboard.stranger();
  expect(await client.do('POST /setup/check', { body: { token } })).toEqual({ accountName: 'Fresh' });
  const body = { token, name: 'Grace', email: 'Grace@Example.com', password: testPassword };
  const made = await client.do('POST /setup', { body });
  expect(made).toMatchObject({
    state: 'signed-in',
    person: { role: 'owner', email: 'grace@example.com', name: 'Grace' },
    account: { id: accountId },
  });
  expect(await client.do('GET /session')).toMatchObject({ state: 'signed-in', account: { id: accountId } });
  expect((await use(token)).status).toBe(404);
  expect((await client.call('POST /setup/check', { body: { token } })).status).toBe(404);
});

test('of several that use it at the same time one becomes the owner', async () => {
  const { token } = await newLink();
  const answers = await Promise.all([use(token), use(token), use(token)]);
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 404, 404]);
});

test('of two links of an account one makes an owner', async () => {
  const { accountId, token } = await newLink();
  const other = await createSetupLink(dashboard.scene.admin, accountId, operatorActor);
  const answers = await Promise.all([use(token), use(other.token)]);
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 404]);
  await expect(createSetupLink(dashboard.scene.admin, accountId, operatorActor)).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('a link lives for an hour', async () => {
  const { accountId, token } = await newLink();
  const age = (seconds: number) =>
    dashboard.scene.admin.db.script(
      `update access_links set expires_at = expires_at - interval '${seconds} seconds' where account_id = '${accountId}'`,
    );
  await age(3_540);
  expect((await dashboard.stranger().call('POST /setup/check', { body: { token } })).status).toBe(200);
  await age(120);
  expect((await dashboard.stranger().call('POST /setup/check', { body: { token } })).status).toBe(404);
  expect((await use(token)).status).toBe(404);
});

test('a link dies with the first owner, however they came to be', async () => {
  const { accountId, token } = await newLink();
  await dashboard.newPerson('owner', accountId);
  expect((await use(token)).status).toBe(404);
  expect((await dashboard.stranger().call('POST /setup/check', { body: { token } })).status).toBe(404);
});

test('a refused password, name or e-mail leaves the link good, and nobody behind', async () => {
  const { accountId, token } = await newLink();
  for (const more of [{ password: 'short' }, { name: ' ' }, { email: 'no e-mail' }, { email: 'a@b' }]) {
    const { status, json } = await use(token, more);
    expect([status, json.error!.param]).toEqual([400, Object.keys(more)[0]]);
  }
  const taken = await use(token, { email: (await dashboard.as('owner')).email });
  expect(taken.status).toBe(409);
  const { db } = dashboard.scene.admin;
  expect(await db.query({ name: '', text: `select from memberships where account_id = '${accountId}'` })).toEqual([]);
  expect((await use(token)).status).toBe(200);
});

test('what is no link is none', async () => {
  for (const token of ['x', 'A'.repeat(43), 'A'.repeat(44)]) expect((await use(token)).status, token).toBe(404);
});

test('a setup link is no invitation, and the other way round', async () => {
  const { token } = await newLink();
  const body = { token, name: 'Ada', password: testPassword };
  expect((await dashboard.stranger().call('POST /invitation', { body })).status).toBe(404);
});
