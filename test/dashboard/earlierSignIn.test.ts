import { beforeAll, describe, expect, test } from 'vitest';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { totpCode, totpStep } from '../../src/vault/totp.ts';
import { expectError } from '../api/paymentCalls.ts';
import { createAuthenticator, type TestAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { bytesOf } from '../support/secondFactor.ts';
import { auditRows } from './auditRows.ts';
import {
  addPasskey,
  askWallet,
  changePassword,
  expectWalletHeld,
  startOwners,
  stopWallet,
  takeovers,
  waitingWallet,
} from './ownerScene.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ isFarApart: true });
});

const turnTotpOn = async (person: DashboardClient) => {
  const secret = bytesOf((await person.do('POST /me/totp/begin')).secret);
  const step = totpStep(Date.now());
  const { recoveryCodes } = await person.do('POST /me/totp', { body: { code: totpCode(secret, step) } });
  return { recoveryCodes, code: totpCode(secret, step + 1n) };
};

/** The only owner of an account, with a passkey and an authenticator app for long, and a thief with a session and a proof. */
const startSole = async () => {
  const team = await startOwners(dashboard, 1);
  const owner = team.people[0]!;
  const device = createAuthenticator(dashboard.url);
  const passkey = (await addPasskey(owner, device)).json.id;
  const totp = await turnTotpOn(owner);
  await team.passTime(30 * 24);
  const { email } = owner;
  const byPassword = (given: { password?: string; code?: string; earlier?: true }) => {
    const client = dashboard.stranger();
    const call = client.call('POST /sign-in', { body: { email, password: testPassword, ...given } });
    return call.then(answer => ({ client, answer }));
  };
  const byPasskey = async (earlier?: true, by: TestAuthenticator = device) => {
    const client = dashboard.stranger();
    const response = by.authenticate(await client.do('POST /sign-in/passkey/options'));
    const answer = await client.call('POST /sign-in/passkey', { body: { response, ...(earlier && { earlier }) } });
    return { client, answer };
  };
  return { ...team, ...totp, owner, thief: owner, device, passkey, byPassword, byPasskey };
};
type Sole = Awaited<ReturnType<typeof startSole>>;

const thiefs = { password: 'the river of a thief' } as const;

/** Everything that locks the owner out. */
const takeOver = async ({ thief, passkey }: Sole) => {
  expect((await changePassword(thief, thiefs.password)).status).toBe(200);
  await thief.do('DELETE /me/totp');
  const totp = await turnTotpOn(thief);
  const device = createAuthenticator(dashboard.url);
  await addPasskey(thief, device);
  await thief.do('DELETE /me/passkeys/:id', { params: { id: passkey } });
  return { device, totp };
};

const earlier = true;
const standing = async (person: DashboardClient) => {
  const { person: is, earlierSignInUntil } = (await person.do('GET /session')) as never as {
    person: { hasTotp: boolean; passkeys: number };
    earlierSignInUntil: string | null;
  };
  return { hasTotp: is.hasTotp, passkeys: is.passkeys, earlierSignInUntil };
};

/** What the database has. */
const kept = async ({ personId }: DashboardClient) => {
  const text = `select (select count(*)::int from passkeys k where k.person_id = p.id) as passkeys,
    num_nonnulls(earlier_until, earlier_password_hash, earlier_totp_secret, earlier_totp_step, earlier_passkey_ids,
      earlier_recovery_hashes) > 0 as keeps from people p where id = '${personId}'`;
  return (await dashboard.scene.admin.db.query({ name: '', text }))[0];
};

describe('a thief who locked the only owner out', () => {
  test('is out when the owner signs in as before, who stops the wallet change and holds the next one', async () => {
    const sole = await startSole();
    const { thief, byPassword, byPasskey, passTime, recoveryCodes } = sole;
    const theirs = await takeOver(sole);
    await thief.do('POST /team/invitations', {
      body: { email: `crook-of-${sole.accountId.toLowerCase()}@example.com`, role: 'admin' },
    });
    expectWalletHeld(await askWallet(thief));
    await passTime(24);
    const { id, hours } = await waitingWallet(thief);
    expect(hours).toBe(24);
    await passTime(23);
    expect((await standing(thief)).earlierSignInUntil).not.toBeNull();

    expectError((await byPassword({})).answer, 401, 'unauthorized');
    expectError((await byPasskey()).answer, 401, 'unauthorized');
    expectError((await byPassword({ earlier, code: 'nonsense' })).answer, 401, 'unauthorized', 'code');
    expect((await thief.call('GET /team')).status, 'a wrong code restores nothing').toBe(200);
    expect((await byPassword({ earlier })).answer.json).toEqual({ state: 'code-needed' });
    const { client: owner, answer } = await byPassword({ earlier, code: recoveryCodes[0]! });
    expect(answer.status, answer.text).toBe(200);
    expect((await thief.call('GET /team')).status).toBe(401);
    expect(await standing(owner)).toEqual({ hasTotp: true, passkeys: 1, earlierSignInUntil: null });
    expectError((await byPasskey(undefined, theirs.device)).answer, 401, 'unauthorized');
    expectError((await byPasskey(earlier, theirs.device)).answer, 401, 'unauthorized');
    expectError((await byPassword({ ...thiefs, code: theirs.totp.code })).answer, 401, 'unauthorized');
    expect((await owner.do('GET /team')).invitations).toEqual([]);

    expect((await stopWallet(owner, id)).status).toBe(200);
    await owner.prove();
    expectWalletHeld(await askWallet(owner));
    const rows = await auditRows(dashboard.scene, sole.accountId);
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['person.sign_in_restored', 'invitation.withdrawn']),
    );
    const text = `select from events where account_id = '${sole.accountId}' and type = 'account.security'
      and body like '%"person.sign_in_restored"%'`;
    expect(await dashboard.scene.admin.db.query({ name: '', text }), 'one of each environment').toHaveLength(2);
    expect((await byPasskey()).answer.status, 'the removed passkey is back').toBe(200);
  });

  test.each(['a passkey', 'a code'] as const)('by %s, whatever was changed, and no proof works twice', async way => {
    const sole = await startSole();
    const { totp } = await takeOver(sole);
    // The thief uses the same time step, with a secret of their own.
    expect((await sole.byPassword({ ...thiefs, code: totp.code })).answer.status).toBe(200);
    const prove = () => (way === 'a passkey' ? sole.byPasskey(earlier) : sole.byPassword({ earlier, code: sole.code }));
    const { client, answer } = await prove();
    expect(answer.status, answer.text).toBe(200);
    expect(await standing(client)).toEqual({ hasTotp: true, passkeys: 1, earlierSignInUntil: null });
    expectError((await prove()).answer, 401, 'unauthorized');
    const { status } = (await sole.byPassword({ code: sole.code })).answer;
    expect(status, 'the code').toBe(way === 'a code' ? 401 : 200);
  });

  test.each([
    'change the password',
    'add a passkey',
    'remove the passkey',
    'renew the recovery codes',
    'turn the authenticator off',
  ] as const)('%s: can be undone', async what => {
    const sole = await startSole();
    const before = await sole.owner.do('GET /session');
    const account = { ...sole, victim: sole.owner, other: sole.owner, viewer: sole.owner, nextCode: '' };
    expect((await takeovers(account, sole.thief, dashboard)[what]()).status).toBe(200);
    const { client } = await sole.byPassword({ earlier, code: sole.code });
    expect(await client.do('GET /session')).toMatchObject({ person: (before as { person?: object }).person! });
    expect((await sole.byPasskey()).answer.status).toBe(200);
    expect((await sole.byPassword({ code: sole.recoveryCodes[0]! })).answer.status).toBe(200);
  });
});

describe('the earlier sign-in', { tags: ['thorough'] }, () => {
  test('works for 48 hours after the newest change, and is that before the first one', async () => {
    const sole = await startSole();
    const { owner, byPassword, byPasskey, passTime, recoveryCodes } = sole;
    await changePassword(owner, thiefs.password);
    await passTime(47);
    expect((await changePassword(owner, 'a second river of a thief')).status).toBe(200);
    await passTime(47);
    expectError((await byPassword({ ...thiefs, earlier, code: recoveryCodes[0]! })).answer, 401, 'unauthorized');
    expect((await byPassword({ earlier, code: recoveryCodes[0]! })).answer.status).toBe(200);
    await owner.prove();
    const late = await startSole();
    await changePassword(late.owner, thiefs.password);
    await late.passTime(48);
    expectError((await late.byPassword({ earlier, code: late.recoveryCodes[0]! })).answer, 401, 'unauthorized');
    expectError((await late.byPasskey(earlier)).answer, 401, 'unauthorized');
    expect((await byPasskey()).answer.status).toBe(200);
  });

  test('restores nothing unasked: whoever types their old password keeps the new one', async () => {
    const { owner, byPassword, byPasskey, recoveryCodes } = await startSole();
    await changePassword(owner, thiefs.password);
    expectError((await byPassword({ code: recoveryCodes[0]! })).answer, 401, 'unauthorized');
    expect((await byPasskey()).answer.status).toBe(200);
    expect((await byPassword({ ...thiefs, code: recoveryCodes[0]! })).answer.status).toBe(200);
    expect((await standing(owner)).earlierSignInUntil).not.toBeNull();
  });

  test('has no code that was used since', async () => {
    const { owner, byPassword, code, recoveryCodes } = await startSole();
    await changePassword(owner, thiefs.password);
    for (const used of [code, recoveryCodes[0]!]) {
      expect((await byPassword({ ...thiefs, code: used })).answer.status).toBe(200);
      expectError((await byPassword({ earlier, code: used })).answer, 401, 'unauthorized', 'code');
    }
    expect((await byPassword({ earlier, code: recoveryCodes[1]! })).answer.status).toBe(200);
  });

  test('is no password alone beside a passkey', async () => {
    const team = await startOwners(dashboard, 1);
    const owner = team.people[0]!;
    await addPasskey(owner, createAuthenticator(dashboard.url));
    await team.passTime(7 * 24);
    await changePassword(owner, thiefs.password);
    expect((await standing(owner)).earlierSignInUntil).not.toBeNull();
    const body = { email: owner.email, password: testPassword, earlier } as const;
    expectError(await dashboard.stranger().call('POST /sign-in', { body }), 401, 'unauthorized');
  });

  test('has no passkey that a thief added and the owner removed, also beside one of the owner', async () => {
    const sole = await startSole();
    const { owner, thief, byPasskey, passTime } = sole;
    const planted = createAuthenticator(dashboard.url);
    const { id } = (await addPasskey(thief, planted)).json;
    await passTime(6 * 24);
    await owner.do('DELETE /me/passkeys/:id', { params: { id } });
    expectError((await byPasskey(earlier, planted)).answer, 401, 'unauthorized');
    expect((await byPasskey(earlier)).answer.status).toBe(200);
  });

  test.each(['passkey', 'authenticator app'] as const)('has no new %s, only the password before it', async what => {
    const team = await startOwners(dashboard, 1);
    const owner = team.people[0]!;
    const planted = createAuthenticator(dashboard.url);
    const { email } = owner;
    const client = dashboard.stranger();
    if (what === 'passkey') {
      const { id } = (await addPasskey(owner, planted)).json;
      await owner.do('DELETE /me/passkeys/:id', { params: { id } });
      const response = planted.authenticate(await client.do('POST /sign-in/passkey/options'));
      expectError(await client.call('POST /sign-in/passkey', { body: { response, earlier } }), 401, 'unauthorized');
    } else {
      await turnTotpOn(owner);
      await team.passTime(47);
      await owner.do('DELETE /me/totp');
    }
    await client.do('POST /sign-in', { body: { email, password: testPassword, earlier } });
    expect(await standing(client)).toEqual({ hasTotp: false, passkeys: 0, earlierSignInUntil: null });
  });

  test('comes back without an authenticator app, if there was none, whatever the thief used meanwhile', async () => {
    const { owner, device, byPassword, byPasskey, passTime } = await startSole();
    await owner.do('DELETE /me/totp');
    await passTime(49);
    const { code } = await turnTotpOn(owner);
    expect((await byPassword({ code })).answer.status).toBe(200);
    await owner.do('DELETE /me/totp');
    expectError((await byPassword({ earlier })).answer, 401, 'unauthorized');
    const { client, answer } = await byPasskey(earlier, device);
    expect(answer.status, answer.text).toBe(200);
    expect(await standing(client)).toEqual({ hasTotp: false, passkeys: 1, earlierSignInUntil: null });
  });

  test('ends with a recovery link of the operator, and leaves nothing behind', async () => {
    const sole = await startSole();
    await takeOver(sole);
    const { token } = await createRecoveryLink(dashboard.scene.admin, sole.owner.email);
    expect((await standing(sole.owner)).earlierSignInUntil, 'before it is used').toBeNull();
    expectError((await sole.byPasskey(earlier)).answer, 401, 'unauthorized');
    const client = dashboard.stranger();
    await client.do('POST /recovery', { body: { token, password: 'a third quiet river' } });
    expect(await standing(client)).toEqual({ hasTotp: false, passkeys: 0, earlierSignInUntil: null });
    expectError((await sole.byPasskey(earlier)).answer, 401, 'unauthorized');
    expectError((await sole.byPassword({ earlier, code: sole.recoveryCodes[0]! })).answer, 401, 'unauthorized');
    expect(await kept(sole.owner)).toEqual({ passkeys: 0, keeps: false });
  });

  test('is forgotten at a sign-in after its time, with its passkeys', async () => {
    const sole = await startSole();
    const { device } = await takeOver(sole);
    expect(await kept(sole.owner)).toEqual({ passkeys: 2, keeps: true });
    await sole.passTime(48);
    expect((await sole.byPasskey(undefined, device)).answer.status).toBe(200);
    expect(await kept(sole.owner)).toEqual({ passkeys: 1, keeps: false });
  });
});
