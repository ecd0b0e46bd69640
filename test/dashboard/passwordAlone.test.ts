import { beforeAll, describe, expect, test } from 'vitest';
import { createSetupLink } from '../../src/engine/access/createSetupLink.ts';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { operatorActor } from '../../src/engine/audit/audit.ts';
import { expectError } from '../api/paymentCalls.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';
import { auditRows } from './auditRows.ts';
import {
  addPasskey,
  askWallet,
  changePassword,
  expectWalletHeld,
  startOwners,
  stopWallet,
  waitingWallet,
} from './ownerScene.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ isFarApart: true });
});

const earlier = true;
const thiefs = 'the river of a thief';
const key = { environment: 'production', body: { name: 'Shop', scopes: ['payments:read'] } } as const;

/** The only owner of an account with a live wallet, who has a password alone, and a thief who has signed in with it. */
const startSole = async () => {
  const team = await startOwners(dashboard, 1);
  const owner = team.people[0]!;
  await owner.unprove();
  const signIn = async (given: { password?: string; earlier?: true }) => {
    const client = dashboard.stranger();
    const body = { email: owner.email, password: testPassword, ...given };
    return { client, answer: await client.call('POST /sign-in', { body }) };
  };
  const { client: thief } = await signIn({});
  return { ...team, owner, thief, signIn };
};

const until = async (person: DashboardClient) =>
  ((await person.do('GET /session')) as never as { earlierSignInUntil: string | null }).earlierSignInUntil;

describe('an only owner without a second factor', () => {
  test('gets back from a thief with the password, who added one, and stops the wallet change', async () => {
    const { owner, thief, signIn, passTime, accountId } = await startSole();
    expectError(await thief.call('POST /keys', key), 403, 'permission_denied', 'secondFactor');
    const { next } = await addTotp(thief);
    await thief.do('POST /prove', { body: { password: testPassword, code: next } });
    expectWalletHeld(await askWallet(thief));
    await passTime(24);
    await owner.prove();
    const { id, hours } = await waitingWallet(thief);
    expect(hours).toBe(24);
    await passTime(23);
    expect((await signIn({})).answer.json, 'the usual way').toEqual({ state: 'code-needed' });
    expectError((await signIn({ earlier, password: thiefs })).answer, 401, 'unauthorized');
    const { client, answer } = await signIn({ earlier });
    expect(answer.json).toMatchObject({
      person: { hasTotp: false, passkeys: 0, hasPassword: true },
      earlierSignInUntil: null,
    });
    expect((await thief.call('GET /team')).status).toBe(401);
    expect((await stopWallet(client, id)).status).toBe(200);
    await addTotp(client);
    await owner.prove();
    expectWalletHeld(await askWallet(client));
    const rows = await auditRows(dashboard.scene, accountId);
    expect(rows.map(({ action }) => action)).toContain('person.sign_in_restored');
    const text = `select from events where account_id = '${accountId}' and type = 'account.security'
      and body like '%"person.sign_in_restored"%'`;
    expect(await dashboard.scene.admin.db.query({ name: '', text }), 'one of each environment').toHaveLength(2);
  });

  test('ends the session in which the thief added one, from a session of before', async () => {
    const { owner, thief } = await startSole();
    const { next } = await addTotp(thief);
    await thief.do('POST /prove', { body: { password: testPassword, code: next } });
    await owner.do('POST /me/sessions/end-others');
    expect((await thief.call('GET /team')).status).toBe(401);
  });

  test.each([23, 24])('keeps the password of before the first change, %i hours after the second one', async hours => {
    const { thief, signIn, passTime } = await startSole();
    expect((await changePassword(thief, thiefs)).status).toBe(200);
    await passTime(24);
    await addTotp(thief);
    await passTime(hours);
    expectError((await signIn({ earlier, password: thiefs })).answer, 401, 'unauthorized');
    expect((await signIn({ earlier })).answer.status, 'not for longer').toBe(hours === 23 ? 200 : 401);
  });
});

describe('whoever has an old password of a person', { tags: ['thorough'] }, () => {
  test('can undo the first second factor, which is announced, gives no more than before, and can be undone', async () => {
    const { owner, thief, signIn, passTime, accountId } = await startSole();
    await owner.do('POST /prove', { body: { password: testPassword } });
    await addPasskey(owner, createAuthenticator(dashboard.url));
    expectError(await thief.call('POST /me/totp/begin'), 403, 'permission_denied', 'secondFactor');
    await passTime(47);
    const { client } = await signIn({ earlier });
    expectError(await client.call('POST /keys', key), 403, 'permission_denied', 'secondFactor');
    const { next } = await addTotp(client);
    await client.do('POST /prove', { body: { password: testPassword, code: next } });
    expectWalletHeld(await askWallet(client));
    const rows = await auditRows(dashboard.scene, accountId);
    expect(rows.map(({ action }) => action)).toContain('person.sign_in_restored');
    expect((await signIn({ earlier })).answer.status, 'the owner').toBe(200);
  });

  test('cannot once the operator made a recovery link', async () => {
    const { owner, signIn } = await startSole();
    await owner.prove();
    await changePassword(owner, 'a new quiet river');
    await createRecoveryLink(dashboard.scene.admin, owner.email);
    expect(await until(owner)).toBeNull();
    expectError((await signIn({ earlier })).answer, 401, 'unauthorized');
  });

  test('cannot 48 hours after the first second factor, however new that is when the next change comes', async () => {
    const { owner, signIn, passTime } = await startSole();
    await owner.prove();
    const device = createAuthenticator(dashboard.url);
    const { id } = (await addPasskey(owner, device)).json;
    await passTime(47);
    await changePassword(owner, 'a new quiet river');
    await passTime(1);
    expectError((await signIn({ earlier })).answer, 401, 'unauthorized');
    await owner.do('DELETE /me/passkeys/:id', { params: { id } });
    expect(await until(owner), 'a new passkey and a password are not kept').toBeNull();
    expectError((await signIn({ earlier, password: 'a new quiet river' })).answer, 401, 'unauthorized');
  });
});

test('a passkey that a person joined with works as earlier sign-in from the start', async () => {
  const { id: accountId } = await dashboard.scene.account();
  const { token } = await createSetupLink(dashboard.scene.admin, accountId, operatorActor);
  const device = createAuthenticator(dashboard.url);
  const owner = dashboard.stranger();
  const who = { token, name: 'Ada', email: `ada-of-${accountId.toLowerCase()}@example.com` };
  const passkey = device.register(await owner.do('POST /setup/passkey/options', { body: who }));
  await owner.do('POST /setup', { body: { ...who, passkey, password: testPassword } });
  const { data } = await owner.do('GET /me/passkeys');
  await changePassword(owner, thiefs);
  await owner.do('DELETE /me/passkeys/:id', { params: { id: data[0]!.id } });
  const client = dashboard.stranger();
  const alone = { email: who.email, password: testPassword, earlier } as const;
  expectError(await client.call('POST /sign-in', { body: alone }), 401, 'unauthorized');
  const response = device.authenticate(await client.do('POST /sign-in/passkey/options'));
  expect(await client.do('POST /sign-in/passkey', { body: { response, earlier } })).toMatchObject({
    person: { passkeys: 1, hasPassword: true },
  });
});
