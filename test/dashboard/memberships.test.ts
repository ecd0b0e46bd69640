import { beforeAll, expect, test } from 'vitest';
import { createKey } from '../../src/engine/access/keys.ts';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { removePerson } from '../../src/engine/access/removePerson.ts';
import { personActor } from '../../src/engine/audit/audit.ts';
import { perform } from '../../src/engine/perform.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { until } from '../support/until.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const newOwner = async (): Promise<{ owner: DashboardClient; accountId: string }> => {
  const { id } = await dashboard.scene.account();
  const owner = await dashboard.newPerson('owner', id);
  await owner.prove();
  return { owner, accountId: id };
};

const invite = async (owner: DashboardClient, email: string, role = 'developer'): Promise<string> => {
  const { link } = await owner.do('POST /team/invitations', { body: { email, role } });
  return link.split('#')[1]!;
};

/** A developer of one account whom the owner of another has invited, and who has joined with their own sign-in. */
const memberOfTwo = async () => {
  const [first, second] = [await newOwner(), await newOwner()];
  const person = await dashboard.newPerson('developer', first.accountId);
  const token = await invite(second.owner, person.email, 'finance');
  const client = dashboard.stranger();
  const answer = await client.call('POST /invitation/sign-in', { body: { token, password: testPassword } });
  return { first, second, person, token, client, answer };
};

const rolesOf = async (client: DashboardClient) => {
  const state = await client.do('GET /session');
  return state.state === 'signed-in' ? { role: state.person.role, account: state.account.id } : state.state;
};

test('somebody who can sign in already joins with that sign-in, and has one more account', async () => {
  const { first, second, person, answer, client } = await memberOfTwo();
  expect(answer.json).toMatchObject({
    state: 'signed-in',
    person: { id: person.personId, role: 'finance' },
    account: { id: second.accountId },
  });
  const state = await client.do('GET /session');
  expect(state).toMatchObject({
    accounts: expect.arrayContaining([
      { id: first.accountId, name: 'Test', role: 'developer' },
      { id: second.accountId, name: 'Test', role: 'finance' },
    ]),
  });
  expect(await rolesOf(person), 'the session in the first account goes on').toEqual({
    role: 'developer',
    account: first.accountId,
  });
});

test('a new sign-in for an e-mail address that has one is refused, and the invitation stays open', async () => {
  const [first, second] = [await newOwner(), await newOwner()];
  const person = await dashboard.newPerson('viewer', first.accountId);
  const token = await invite(second.owner, person.email);
  const body = { token, name: 'Mallory', password: 'another quiet river' };
  expect((await dashboard.stranger().call('POST /invitation', { body })).status).toBe(409);
  const wrong = await dashboard
    .stranger()
    .call('POST /invitation/sign-in', { body: { token, password: 'a wrong guess at it' } });
  expect(wrong.status).toBe(401);
  const { members } = await second.owner.do('GET /team');
  expect(members.map(member => member.email)).not.toContain(person.email);
  expect((await dashboard.stranger().call('POST /invitation/check', { body: { token } })).status).toBe(200);
});

test('a session is opened in another account, with the role there, and is refused where there is no membership', async () => {
  const { first, second, client } = await memberOfTwo();
  const switched = await client.do('POST /session/account', { body: { accountId: first.accountId } });
  expect(switched).toMatchObject({ account: { id: first.accountId }, person: { role: 'developer' } });
  expect(await rolesOf(client)).toEqual({ role: 'developer', account: first.accountId });
  const { accountId } = await newOwner();
  for (const foreign of [accountId, 'acct_00000000000000000000000000', '']) {
    const answer = await client.call('POST /session/account', { body: { accountId: foreign } });
    expect(answer.status, foreign).toBe(404);
  }
  expect(await rolesOf(client)).toEqual({ role: 'developer', account: first.accountId });
  const audit = await second.owner.do('GET /audit', { query: { action: 'session.switched' } });
  expect(audit.data, 'recorded in the account that was opened').toEqual([]);
  await client.do('POST /session/account', { body: { accountId: second.accountId } });
  expect((await second.owner.do('GET /audit', { query: { action: 'session.switched' } })).data).toHaveLength(1);
});

test('an account removes a membership, not a person: the other account and the sign-in stay', async () => {
  const { first, second, person, client } = await memberOfTwo();
  await second.owner.do('DELETE /team/:id', { params: { id: person.personId } });
  expect(await rolesOf(client)).toBe('signed-out');
  expect(await rolesOf(person)).toEqual({ role: 'developer', account: first.accountId });
  const again = dashboard.stranger();
  await again.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  expect(await rolesOf(again)).toEqual({ role: 'developer', account: first.accountId });
  expect((await again.call('POST /session/account', { body: { accountId: second.accountId } })).status).toBe(404);
  await first.owner.do('DELETE /team/:id', { params: { id: person.personId } });
  const refused = await dashboard
    .stranger()
    .call('POST /sign-in', { body: { email: person.email, password: testPassword } });
  expect(refused.status).toBe(401);
  expect(refused.json.error!.message).toContain('not a member of any account');
  // Invited again, they join with the sign-in that they kept.
  const token = await invite(second.owner, person.email, 'viewer');
  const back = dashboard.stranger();
  await back.do('POST /invitation/sign-in', { body: { token, password: testPassword } });
  expect(await rolesOf(back)).toEqual({ role: 'viewer', account: second.accountId });
});

test('an admin of one account changes nothing about a member in another', async () => {
  const { first, second, person } = await memberOfTwo();
  await second.owner.do('PATCH /team/:id', { params: { id: person.personId }, body: { role: 'viewer' } });
  expect(await rolesOf(person)).toEqual({ role: 'developer', account: first.accountId });
  const stranger = await newOwner();
  const call = { params: { id: person.personId } };
  expect((await stranger.owner.call('DELETE /team/:id', call)).status).toBe(404);
  expect((await stranger.owner.do('GET /team/:id/keys', call)).data).toEqual([]);
});

test.each(['keep', 'revoke'] as const)('whoever removes a member decides about the keys they made: %s', async keys => {
  const { owner, accountId } = await newOwner();
  const developer = await dashboard.newPerson('developer', accountId);
  await developer.prove();
  const { key, id } = await developer.do('POST /keys', { body: { name: 'Shop', scopes: ['payments:read'] } });
  const [params, works] = [
    { id: developer.personId },
    async () => (await dashboard.scene.client.call('GET', '/v1/payments', { key })).status,
  ];
  expect((await owner.do('GET /team/:id/keys', { params })).data).toMatchObject([{ id, name: 'Shop' }]);
  expect((await owner.call('DELETE /team/:id', { params })).status, 'nothing is decided by silence').toBe(409);
  await owner.do('DELETE /team/:id', { params, query: { keys } });
  // Keys are cached for half a second.
  await until(works, status => status === (keys === 'keep' ? 200 : 401));
  const { data } = await owner.do('GET /audit', { query: { action: 'key.revoked' } });
  expect(data.map(row => row.subject)).toEqual(keys === 'keep' ? [] : [id]);
});

test('a recovery link sets a new password at once only where nobody else owns the account, and is announced', async () => {
  const { admin } = dashboard.scene;
  const { owner, accountId } = await newOwner();
  const alone = await createRecoveryLink(admin, owner.email);
  expect(alone.hasToWait).toBe(false);
  expect((await owner.do('GET /announcements')).recoveries).toMatchObject([{ email: owner.email }]);
  const client = dashboard.stranger();
  const body = { token: alone.token, password: 'a new quiet river' };
  await client.do('POST /recovery', { body });
  expect(await rolesOf(client)).toEqual({ role: 'owner', account: accountId });
  expect(await rolesOf(owner), 'all earlier sessions are over').toBe('signed-out');
  expect((await dashboard.stranger().call('POST /recovery', { body })).status, 'once').toBe(404);

  const other = await dashboard.newPerson('owner', accountId);
  const waiting = await createRecoveryLink(admin, other.email);
  expect(waiting.hasToWait).toBe(true);
  const early = { body: { token: waiting.token, password: 'one more quiet river' } };
  expect((await dashboard.stranger().call('POST /recovery', early)).status, 'not yet').toBe(404);
  expect((await client.do('GET /announcements')).recoveries).toMatchObject([{ email: other.email }]);
  await admin.db.script(
    `update recovery_links set opens_at = clock_timestamp() where person_id = '${other.personId}' and used_at is null`,
  );
  await dashboard.stranger().do('POST /recovery', early);
  const { data } = await client.do('GET /audit', { query: { action: 'person.recovery_link_created' } });
  expect(data.map(row => [row.actor.kind, row.subject])).toEqual([
    ['operator', other.personId],
    ['operator', owner.personId],
  ]);
});

test('the operator removes a person from all accounts, with the sign-in, and never the last owner by mistake', async () => {
  const { admin } = dashboard.scene;
  const { first, second, person, client } = await memberOfTwo();
  const options = { accountId: null, keys: undefined, evenLastOwner: false };
  await expect(removePerson(admin, first.owner.email, options)).rejects.toMatchObject({ code: 'conflict' });
  const accounts = await removePerson(admin, person.email.toUpperCase(), options);
  expect(accounts.map(({ id }) => id)).toEqual([first.accountId, second.accountId].sort());
  for (const gone of [person, client]) expect(await rolesOf(gone)).toBe('signed-out');
  const body = { email: person.email, password: testPassword };
  expect((await dashboard.stranger().call('POST /sign-in', { body })).status).toBe(401);
  for (const { owner } of [first, second]) {
    const { data } = await owner.do('GET /audit', { query: { action: 'person.removed' } });
    expect(data.map(row => [row.actor.kind, row.subject])).toEqual([['operator', person.personId]]);
  }
  await expect(removePerson(admin, person.email, options)).rejects.toMatchObject({ code: 'not_found' });
});

test('names in the audit log carry the e-mail address', async () => {
  const { owner } = await newOwner();
  await owner.do('PATCH /me', { body: { name: 'Somebody else' } });
  const { data } = await owner.do('GET /audit', { query: { action: 'person.renamed' } });
  expect(data[0]!.actor.name).toContain(`<${owner.email}>`);
});

test('people create accounts only where the operator allows it', async () => {
  const { owner } = await newOwner();
  const refused = await owner.call('POST /accounts', { body: { name: 'Third' } });
  expect([refused.status, refused.json.error!.code]).toEqual([403, 'permission_denied']);
  const open = await startDashboard({ env: { FLORIN_DASHBOARD_ACCOUNTS: 'on' } });
  const viewer = await open.as('viewer');
  expect((await viewer.call('POST /accounts', { body: { name: 'Third' } })).status, 'without a proof').toBe(403);
  await viewer.prove();
  const made = await viewer.do('POST /accounts', { body: { name: 'Third' } });
  expect(made).toMatchObject({ account: { name: 'Third', plan: 'starter' }, person: { role: 'owner' } });
  const { data } = await viewer.do('GET /audit');
  expect(data.map(({ action, actor }) => [action, actor.id])).toEqual([
    ['session.switched', viewer.personId],
    ['account.created', viewer.personId],
  ]);
  const { data: networks } = await viewer.do('GET /wallets');
  expect(networks.length, 'it is as whole as one of the command line').toBeGreaterThan(0);
});

test('what a page of one account sends is not done in another that was opened since', async () => {
  const { first, second, client } = await memberOfTwo();
  const headers = { 'x-florin-account': second.accountId };
  expect((await client.call('GET /team', { headers })).status).toBe(200);
  const open = { body: { accountId: first.accountId }, headers };
  await client.do('POST /session/account', open);
  const stale = await client.call('GET /team', { headers });
  expect([stale.status, stale.json.error!.param]).toEqual([409, 'account']);
  expect((await client.call('POST /session/account', { ...open, headers })).status, 'it may still switch').toBe(200);
});

test('a write that arrives after its person was removed is refused', async () => {
  const { admin } = dashboard.scene;
  const { owner, accountId } = await newOwner();
  const developer = await dashboard.newPerson('developer', accountId);
  await owner.do('DELETE /team/:id', { params: { id: developer.personId } });
  const { personId, email } = developer;
  const actor = personActor({ personId, email, name: 'Developer' });
  const acting = { scope: { accountId, environment: 'sandbox' }, actor, address: null, needs: 'keys.manage' } as const;
  const work = createKey(admin, { name: 'Late', scopes: ['payments:read'] }, 'developer');
  await expect(perform(admin, acting, null, work)).rejects.toMatchObject({ code: 'permission_denied' });
  expect((await owner.do('GET /keys')).data.map(key => key.name)).not.toContain('Late');
});

test('a change of the sign-in is in the log of every account that it opens, and ends an open recovery link', async () => {
  const { first, second, person } = await memberOfTwo();
  const { token } = await createRecoveryLink(dashboard.scene.admin, person.email);
  await person.prove();
  await person.do('POST /me/password', { body: { password: 'another quiet river' } });
  for (const { owner } of [first, second]) {
    const { data } = await owner.do('GET /audit', { query: { action: 'person.password_changed' } });
    expect(data.map(row => row.actor.id)).toEqual([person.personId]);
  }
  expect((await dashboard.stranger().call('POST /recovery/check', { body: { token } })).status).toBe(404);
});

test('a recovery removes passkeys, and a membership of another account ends an open link', async () => {
  const { admin } = dashboard.scene;
  const { owner } = await newOwner();
  const device = createAuthenticator(dashboard.url);
  const response = device.register(await owner.do('POST /me/passkeys/options'));
  await owner.do('POST /me/passkeys', { body: { name: 'Lost', response } });
  const { token } = await createRecoveryLink(admin, owner.email);
  const client = dashboard.stranger();
  await client.do('POST /recovery', { body: { token, password: 'a new quiet river' } });
  expect((await client.do('GET /me/passkeys')).data).toEqual([]);
  const next = await createRecoveryLink(admin, owner.email);
  const other = await newOwner();
  const invited = await invite(other.owner, owner.email, 'viewer');
  await dashboard
    .stranger()
    .do('POST /invitation/sign-in', { body: { token: invited, password: 'a new quiet river' } });
  expect((await dashboard.stranger().call('POST /recovery/check', { body: { token: next.token } })).status).toBe(404);
});
