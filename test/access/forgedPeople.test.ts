import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { memberActing } from '../../src/engine/audit/acting.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { perform } from '../../src/engine/perform.ts';
import { lockOwners, shareRole } from '../../src/storage/access/memberships.ts';
import { listEverybody } from '../../src/storage/access/people.ts';
import { expectError } from '../api/paymentCalls.ts';
import { approveWallet, changePassword, expectHeld, startOwners, waitingWallet } from '../dashboard/ownerScene.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import type { TestFlorin } from '../support/florin.ts';
import { addTotp } from '../support/secondFactor.ts';

let dashboard: TestDashboard;
let scene: TestFlorin;
let thief: DashboardClient;
const thiefPassword = 'a loud river at midnight';
beforeAll(async () => {
  dashboard = await startDashboard();
  scene = dashboard.scene;
  thief = await dashboard.newPerson('viewer');
  await thief.prove();
  await thief.do('POST /me/password', { body: { password: thiefPassword } });
});
// Otherwise the address of all these tests would have to wait.
beforeEach(() => scene.admin.db.script('delete from sign_in_failures'));

const signIn = (email: string, more: Record<string, string> = {}) =>
  dashboard.stranger().call('POST /sign-in', { body: { email, password: testPassword, ...more } });
const roleOf = async (person: DashboardClient): Promise<string> => {
  const session = await person.do('GET /session');
  return session.state === 'signed-in' ? session.person.role : session.state;
};

describe('a person', () => {
  type Forgery = [what: string, change: (id: string) => string, password?: string];
  const ofThief = (column: string) => (id: string) =>
    `update people p set ${column} = t.${column} from people t
      where p.id = '${id}' and t.id = '${thief.personId}'`;
  test.each<Forgery>([
    ['the password of a thief', ofThief('password_hash'), thiefPassword],
    ['another name', id => `update people set name = 'Forged' where id = '${id}'`],
    ['the seal of another', ofThief('row_seal')],
  ])(
    'with %s cannot sign in, as with a wrong password, and is signed out',
    async (_, change, password = testPassword) => {
      const person = await dashboard.newPerson('owner');
      await scene.tamper(change(person.personId));
      const wrong = await signIn('nobody@shop.example');
      for (let tried = 0; tried < 5; tried++) {
        const { status, json } = await signIn(person.email, { password });
        expect([status, json.error?.message]).toEqual([401, wrong.json.error!.message]);
      }
      expect((await signIn(person.email)).status).toBe(429);
      expect(await roleOf(person)).toBe('signed-out');
      const everybody = (await listEverybody(scene.admin.db)).map(({ id }) => id);
      expect([everybody.includes(person.personId), everybody.includes(thief.personId)]).toEqual([false, true]);
      await expect(createRecoveryLink(scene.admin, person.email)).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  test('whose authenticator app was taken out of the database still needs it', async () => {
    const person = await dashboard.newPerson('owner');
    await person.prove();
    await addTotp(person);
    await scene.tamper(`update people set totp_secret = null where id = '${person.personId}'`);
    expect((await signIn(person.email)).status).toBe(401);
  });

  test('who renewed their recovery codes has only the new ones', async () => {
    const person = await dashboard.newPerson('owner');
    await person.prove();
    const { recoveryCodes, next } = await addTotp(person);
    await scene.tamper(`create table old_codes as select recovery_hashes from people where id = '${person.personId}'`);
    await person.do('POST /me/recovery-codes');
    await scene.tamper(`update people set recovery_hashes = (select recovery_hashes from old_codes)
      where id = '${person.personId}'; drop table old_codes`);
    expect((await signIn(person.email, { code: recoveryCodes[0]! })).status).toBe(401);
    expect((await signIn(person.email, { code: next })).status).toBe(401);
  });
});

describe('a passkey', () => {
  const withPasskey = async () => {
    const person = await dashboard.newPerson('owner');
    await person.prove();
    const device = createAuthenticator(dashboard.url);
    const response = device.register(await person.do('POST /me/passkeys/options'));
    const { id } = await person.do('POST /me/passkeys', { body: { name: 'Phone', response } });
    return { person, device, id };
  };
  const use = async (device: ReturnType<typeof createAuthenticator>) => {
    const client = dashboard.stranger();
    const response = device.authenticate(await client.do('POST /sign-in/passkey/options'));
    return (await client.call('POST /sign-in/passkey', { body: { response } })).status;
  };

  test('that was taken out of the database still makes a second factor needed', async () => {
    const { person, device } = await withPasskey();
    await scene.tamper(`delete from passkeys where person_id = '${person.personId}'`);
    expect(await use(device)).toBe(401);
    const client = dashboard.stranger();
    await client.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
    const { status, json } = await client.call('POST /me/totp/begin');
    expect([status, json.error?.param]).toEqual([403, 'secondFactor']);
    expect(await person.do('GET /me/passkeys')).toEqual({ data: [] });
  });

  test('that was removed and put back signs nobody in', async () => {
    const { person, device, id } = await withPasskey();
    expect(await use(device)).toBe(200);
    await scene.tamper(`create table old_passkeys as select * from passkeys where id = '${id}'`);
    await person.do('DELETE /me/passkeys/:id', { params: { id } });
    await scene.tamper(
      'insert into passkeys select * from old_passkeys on conflict do nothing; drop table old_passkeys',
    );
    expect(await use(device)).toBe(401);
    expect(await person.do('GET /me/passkeys')).toEqual({ data: [] });
  });

  test.each([
    ['of another person', (mine: string, id: string) => `update passkeys set person_id = '${mine}' where id = '${id}'`],
    [
      'with another counter',
      (_: string, id: string) => `update passkeys set counter = 0, name = 'x' where id = '${id}'`,
    ],
  ])('%s signs nobody in', async (_, change) => {
    const [owner, { device, id }] = [await dashboard.newPerson('owner'), await withPasskey()];
    await scene.tamper(change(owner.personId, id));
    expect(await use(device)).toBe(401);
  });

  test('of a thief, with their public key in the row of another, signs nobody in', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()];
    await scene.tamper(`update passkeys p set public_key = t.public_key from passkeys t
      where p.id = '${mine.id}' and t.id = '${theirs.id}'`);
    expect([await use(mine.device), await use(theirs.device)]).toEqual([401, 200]);
  });
});

describe('a session', () => {
  test.each([
    [
      'of another person',
      `person_id = (select m.person_id from memberships m where m.role = 'owner' and m.account_id = sessions.account_id limit 1)`,
    ],
    ['with a later end', `expires_at = expires_at + interval '1 year'`],
    ['with a proof', `proven_until = now() + interval '1 year', strongly_proven_until = now() + interval '1 year'`],
    ['without a seal', 'row_seal = null'],
  ])('%s that somebody wrote is over', async (_, change) => {
    const [person, owner] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('owner')];
    expect([await roleOf(person), await roleOf(owner)]).toEqual(['viewer', 'owner']);
    await scene.tamper(`update sessions set ${change} where person_id = '${person.personId}'`);
    expect([await roleOf(person), await roleOf(owner)]).toEqual(['signed-out', 'owner']);
  });

  test("with a thief's token in the row of an owner is over", async () => {
    const [person, owner] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('owner')];
    await scene.tamper(`create table kept as select token_hash from sessions where person_id = '${person.personId}';
      delete from sessions where person_id = '${person.personId}';
      update sessions set token_hash = (select token_hash from kept) where person_id = '${owner.personId}';
      drop table kept`);
    expect(await roleOf(person)).toBe('signed-out');
  });

  test('that ended stays over when its row is put back, also without the note of its end', async () => {
    const person = await dashboard.newPerson('viewer');
    const mine = `where person_id = '${person.personId}'`;
    await scene.tamper(`create table kept as select * from sessions ${mine}`);
    await person.do('POST /sign-out');
    await scene.tamper(`insert into sessions select * from kept; drop table kept; delete from ended_sessions`);
    expect(await roleOf(person)).toBe('signed-out');
    expect((await person.call('GET /payments')).status).toBe(401);
  });

  test('that a new password ended stays over when its row is put back', async () => {
    const [person, other] = [await dashboard.newPerson('viewer'), dashboard.stranger()];
    await other.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
    await person.prove();
    await scene.tamper(`create table kept as select * from sessions where person_id = '${person.personId}'`);
    await person.do('POST /me/password', { body: { password: 'a new quiet river' } });
    expect([await roleOf(person), await roleOf(other)]).toEqual(['viewer', 'signed-out']);
    await scene.tamper('insert into sessions select * from kept on conflict do nothing; drop table kept');
    expect([await roleOf(person), await roleOf(other)]).toEqual(['viewer', 'signed-out']);
    expect((await person.do('GET /me/sessions')).data).toHaveLength(1);
  });

  test('is over for a role or an account that Florin did not give', async () => {
    const [other, theirs] = [await scene.account(), await scene.account()];
    const [person, climber] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer', theirs.id)];
    await scene.tamper(`insert into memberships (account_id, person_id, role, row_seal)
        select '${other.id}', person_id, 'owner', row_seal from memberships where person_id = '${person.personId}';
      update memberships set role = 'owner' where person_id = '${climber.personId}'`);
    expect(await roleOf(climber)).toBe('signed-out');
    expect((await person.call('POST /session/account', { body: { accountId: other.id } })).status).toBe(404);
    await scene.tamper(`update sessions set account_id = '${other.id}' where person_id = '${person.personId}'`);
    expect(await roleOf(person)).toBe('signed-out');
    expect(await lockOwners(scene.admin.db, other.id)).toEqual([]);
  });

  test('no longer allows a write that arrives after the membership was changed', async () => {
    const person = await dashboard.newPerson('viewer');
    const member = { accountId: dashboard.accountId, personId: person.personId, name: 'Viewer', email: person.email };
    const acting = { ...memberActing(member, null), needs: 'signed-in' as const };
    const write = () => perform(scene.admin, acting, null, async () => ({ value: 'written', deed: null }));
    expect(await write()).toBe('written');
    await scene.tamper(`update memberships set role = 'owner' where person_id = '${person.personId}'`);
    await expect(write()).rejects.toMatchObject({ code: 'permission_denied' });
    expect(await shareRole(scene.admin.db, dashboard.accountId, person.personId)).toBeNull();
  });
});

test('an owner whom somebody wrote into the database backs no change of a wallet', async () => {
  const { people, accountId, join } = await startOwners(dashboard, 1);
  const [owner, helper] = [people[0]!, await join('viewer')];
  const { id } = await waitingWallet(owner);
  const [, network, version] = /^(.*)-(\d+)$/.exec(id)!;
  await scene.tamper(`update memberships set role = 'owner', owner_since = now() - interval '30 days'
      where account_id = '${accountId}' and person_id = '${helper.personId}';
    insert into wallet_approvals (account_id, environment, network, version, person_id, approved_by)
      values ('${accountId}', 'production', '${network}', ${version}, '${helper.personId}', 'Forged')`);
  expect((await approveWallet(helper, id)).status).toBe(401);
  expectError(await changePassword(owner), 503, 'service_unavailable');
  await scene.admin.db.transaction(tx => sealRegister(scene.admin, tx, accountId));
  expectHeld(await changePassword(owner));
});
