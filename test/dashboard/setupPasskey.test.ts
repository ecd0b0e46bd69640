import { beforeAll, describe, expect, test } from 'vitest';
import { createSetupLink } from '../../src/engine/access/createSetupLink.ts';
import { operatorActor } from '../../src/engine/audit/audit.ts';
import { createAuthenticator, type TestAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

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
const somebody = (token: string) => {
  people += 1;
  return { token, name: 'Ada', email: `passkey${people}@example.com` };
};

const device = (): TestAuthenticator => createAuthenticator(dashboard.url);

/** Sets up with a passkey of the device, and perhaps a password. */
const setUp = async (authenticator: TestAuthenticator, more: { password?: string } = {}) => {
  const { accountId, token } = await newLink();
  const body = somebody(token);
  const client = dashboard.stranger();
  const options = await client.do('POST /setup/passkey/options', { body });
  const passkey = authenticator.register(options);
  return {
    accountId,
    email: body.email,
    client,
    made: await client.do('POST /setup', { body: { ...body, passkey, ...more } }),
  };
};

const signIn = async (authenticator: TestAuthenticator, client: DashboardClient = dashboard.stranger()) => {
  const response = authenticator.authenticate(await client.do('POST /sign-in/passkey/options'));
  return client.call('POST /sign-in/passkey', { body: { response } });
};

describe('a setup link', () => {
  test('makes an owner with a passkey and no password, who signs in with it and proves it is them', async () => {
    const authenticator = device();
    const { accountId, email, made } = await setUp(authenticator);
    expect(made).toMatchObject({
      state: 'signed-in',
      account: { id: accountId },
      person: { role: 'owner', email, hasPassword: false, passkeys: 1 },
    });
    const client = dashboard.stranger();
    expect((await signIn(authenticator, client)).json).toMatchObject({ state: 'signed-in', person: { email } });
    const response = authenticator.authenticate(await client.do('POST /prove/passkey/options'));
    expect(await client.do('POST /prove', { body: { response } })).toHaveProperty('provenUntil');
    const withPassword = await dashboard.stranger().call('POST /sign-in', { body: { email, password: testPassword } });
    expect(withPassword.status).toBe(401);
  });

  test('makes an owner with a passkey and a password, and both sign in', async () => {
    const authenticator = device();
    const { email, made } = await setUp(authenticator, { password: testPassword });
    expect(made).toMatchObject({ person: { hasPassword: true, passkeys: 1 } });
    expect((await signIn(authenticator)).status).toBe(200);
    const body = { email, password: testPassword };
    expect(await dashboard.stranger().do('POST /sign-in', { body })).toMatchObject({ state: 'signed-in' });
  });

  test('makes nobody without a password and a passkey, and stays good', async () => {
    const { token } = await newLink();
    const body = somebody(token);
    const refused = await dashboard.stranger().call('POST /setup', { body });
    expect([refused.status, refused.json.error!.param]).toEqual([400, 'password']);
    const kept = await dashboard.stranger().call('POST /setup', { body: { ...body, password: testPassword } });
    expect(kept.status).toBe(200);
  });

  test('is not used up by a passkey that was made for another link, another address, or is told twice', async () => {
    const [first, second] = [await newLink(), await newLink()];
    const client = dashboard.stranger();
    const body = somebody(first.token);
    const offer = (token: string) => client.do('POST /setup/passkey/options', { body: { ...body, token } });
    const use = (passkey: Record<string, unknown>) => client.call('POST /setup', { body: { ...body, passkey } });
    expect((await use(device().register(await offer(second.token)))).status, 'of another link').toBe(400);
    const foreign = device().register(await offer(first.token), { origin: 'https://evil.example' });
    expect((await use(foreign)).status, 'of another address').toBe(400);
    const unverified = device().register(await offer(first.token), { unverified: true });
    expect((await use(unverified)).status, 'of nobody').toBe(400);
    const passkey = device().register(await offer(first.token));
    expect((await client.call('POST /setup', { body: { ...body, passkey, name: ' ' } })).status).toBe(400);
    expect((await use(passkey)).status, 'in time').toBe(200);
    const other = { ...somebody(second.token), passkey };
    expect((await client.call('POST /setup', { body: other })).status, 'twice').toBe(400);
  });

  test('that is none offers no passkey', async () => {
    const body = somebody('A'.repeat(43));
    expect((await dashboard.stranger().call('POST /setup/passkey/options', { body })).status).toBe(404);
    const invitation = { token: (await newLink()).token, name: 'Ada' };
    const other = await dashboard.stranger().call('POST /invitation/passkey/options', { body: invitation });
    expect(other.status, 'of the other kind').toBe(404);
  });

  test('tells the audit log that the owner joined and added a passkey', async () => {
    const { accountId, client } = await setUp(device());
    const { data } = await client.do('GET /audit', { query: { limit: 10 } });
    expect(data.map(row => row.action)).toEqual(
      expect.arrayContaining(['person.joined', 'person.passkey_added', 'person.signed_in']),
    );
    expect(accountId).toMatch(/^acct_/);
  });
});

test('an invitation can be accepted with a passkey alone', async () => {
  const owner = await dashboard.as('owner');
  await owner.prove();
  const invited = { email: 'invited@example.com', role: 'support' as const };
  const { link } = await owner.do('POST /team/invitations', { body: invited });
  const body = { token: link.split('#')[1]!, name: 'Joan' };
  const authenticator = device();
  const client = dashboard.stranger();
  const passkey = authenticator.register(await client.do('POST /invitation/passkey/options', { body }));
  expect(await client.do('POST /invitation', { body: { ...body, passkey } })).toMatchObject({
    person: { email: invited.email, role: 'support', hasPassword: false, passkeys: 1 },
  });
  expect((await signIn(authenticator)).status).toBe(200);
});

test('the only way to sign in cannot be removed', async () => {
  const { client } = await setUp(device());
  const { data } = await client.do('GET /me/passkeys');
  const params = { id: data[0]!.id };
  const refused = await client.call('DELETE /me/passkeys/:id', { params });
  expect([refused.status, refused.json.error!.code]).toEqual([409, 'conflict']);
  await client.do('POST /me/password', { body: { password: testPassword } });
  expect((await client.call('DELETE /me/passkeys/:id', { params })).status).toBe(200);
});

test('of two passkeys that are removed at the same time one stays', async () => {
  const { client } = await setUp(device());
  const response = device().register(await client.do('POST /me/passkeys/options'));
  await client.do('POST /me/passkeys', { body: { name: 'Second', response } });
  const { data } = await client.do('GET /me/passkeys');
  const answers = await Promise.all(data.map(({ id }) => client.call('DELETE /me/passkeys/:id', { params: { id } })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await client.do('GET /me/passkeys')).data).toHaveLength(1);
});
