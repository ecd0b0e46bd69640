import { beforeAll, expect, test } from 'vitest';
import type { DashboardCallName } from '../../src/core/api/dashboardApi.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

/** Somebody who has signed in with their password, and nothing else. */
const withPassword = async (accountId?: string): Promise<DashboardClient> => {
  const person = await dashboard.newPerson('owner', accountId);
  await person.do('POST /prove', { body: { password: testPassword } });
  return person;
};
const quietAccount = async (): Promise<string> => {
  const { id } = await dashboard.scene.account({ name: 'Quiet' });
  await dashboard.scene.admin.db.script(`update api_keys set revoked_at = now() where account_id = '${id}'`);
  return id;
};

const key = { body: { name: 'Shop', scopes: ['payments:read'] } };
const invitation = { body: { email: 'new@shop.example', role: 'viewer' } };
const refusal = async (person: DashboardClient, name: DashboardCallName, sending: object) => {
  const { status, json } = await person.call(name, sending);
  return [status, json.error?.param];
};

test('a password alone proves for the sandbox, not for production', async () => {
  const person = await withPassword();
  expect((await person.call('POST /keys', key)).status).toBe(200);
  const calls: [DashboardCallName, object][] = [
    ['POST /keys', key],
    ['POST /wallets', { body: { network: 'base', treasury: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' } }],
    ['PATCH /settings', { body: { lateWindowDays: 8 } }],
    ['POST /settings/callback-secret/reveal', {}],
    ['POST /webhooks', { body: { url: 'https://shop.example/hooks' } }],
    ['DELETE /webhooks/:id', { params: { id: 'whe_x' } }],
  ];
  for (const [name, sending] of calls) {
    const production = await refusal(person, name, { environment: 'production', ...sending });
    expect([name, ...production]).toEqual([name, 403, 'secondFactor']);
  }
  const twice = await person.call('POST /keys', { query: { environment: ['sandbox', 'production'] }, ...key });
  expect(twice.status).not.toBe(200);
});

test('who has no second factor is told how to get one, and who has one is told to use it', async () => {
  const person = await withPassword();
  const inProduction = { environment: 'production', ...key } as const;
  expect((await person.call('POST /keys', inProduction)).json.error!.message).toMatch(
    /^A password alone .* Add a passkey/,
  );
  await addTotp(person);
  expect((await person.call('POST /keys', inProduction)).json.error!.message).toMatch(/^Confirm your identity with/);
});

test('a code or a recovery code with the password proves for production', async () => {
  const person = await withPassword();
  const { recoveryCodes, next } = await addTotp(person);
  const inProduction = { environment: 'production', ...key } as const;
  expect(await refusal(person, 'POST /keys', inProduction)).toEqual([403, 'secondFactor']);
  for (const code of [next, recoveryCodes[0]!]) {
    await person.unprove();
    await person.do('POST /prove', { body: { password: testPassword, code } });
    expect((await person.call('POST /keys', inProduction)).status).toBe(200);
  }
  const elsewhere = dashboard.stranger();
  await elsewhere.do('POST /sign-in', {
    body: { email: person.email, password: testPassword, code: recoveryCodes[1]! },
  });
  expect((await elsewhere.call('POST /keys', inProduction)).status, 'signing in with a code is one, too').toBe(200);
});

test('a passkey proves for production, and a later password does not take that away', async () => {
  const person = await withPassword();
  const device = createAuthenticator(dashboard.url);
  const response = device.register(await person.do('POST /me/passkeys/options'));
  await person.do('POST /me/passkeys', { body: { name: 'Laptop', response } });
  const inProduction = { environment: 'production', ...key } as const;
  expect(await refusal(person, 'POST /keys', inProduction)).toEqual([403, 'secondFactor']);
  const options = await person.do('POST /prove/passkey/options');
  await person.do('POST /prove', { body: { response: device.authenticate(options) } });
  await person.do('POST /prove', { body: { password: testPassword } });
  expect((await person.call('POST /keys', inProduction)).status).toBe(200);
});

test('a strong proof ends after its time', async () => {
  const person = await dashboard.newPerson('owner');
  await person.prove();
  await dashboard.scene.admin.db.script(`update sessions set strongly_proven_until = now() - interval '1 second'
    where person_id = '${person.personId}'`);
  expect(await refusal(person, 'POST /keys', { environment: 'production', ...key })).toEqual([403, 'secondFactor']);
});

test('the team needs a second factor as soon as the account has a live key or a live wallet', async () => {
  const { db } = dashboard.scene.admin;
  for (const kind of ['key', 'wallet']) {
    const id = await quietAccount();
    const person = await withPassword(id);
    expect((await person.call('POST /team/invitations', invitation)).status, 'before that').toBe(200);
    const owner = await dashboard.newPerson('owner', id);
    await owner.prove();
    if (kind === 'key') await owner.do('POST /keys', { environment: 'production', ...key });
    else {
      const treasury = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
      await owner.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury } });
    }
    expect(await refusal(person, 'POST /team/invitations', invitation), kind).toEqual([403, 'secondFactor']);
    await db.script(`update api_keys set revoked_at = now() where account_id = '${id}'`);
    const after = await person.call('POST /team/invitations', { body: { email: 'b@shop.example', role: 'viewer' } });
    expect(after.status, 'without the key').toBe(kind === 'key' ? 200 : 403);
  }
});

test('a password adds the first factor, and none of the later ones', async () => {
  const person = await withPassword();
  await addTotp(person);
  for (const name of ['POST /me/passkeys/options', 'DELETE /me/totp', 'POST /me/recovery-codes'] as const) {
    expect([name, ...(await refusal(person, name, {}))]).toEqual([name, 403, 'secondFactor']);
  }
  const password = { body: { password: 'another quiet river at noon' } };
  expect(await refusal(person, 'POST /me/password', password)).toEqual([403, 'secondFactor']);
});

test('a review after a restore needs the second factor that the person has, also where nothing is live any more', async () => {
  const person = await withPassword(await quietAccount());
  const review = { body: { restoredAt: new Date().toISOString() } };
  expect((await refusal(person, 'POST /restore-review', review))[1], 'without one').not.toBe('secondFactor');
  await addTotp(person);
  expect(await refusal(person, 'POST /restore-review', review)).toEqual([403, 'secondFactor']);
});

test('a new password that is known from breaches is refused, with what to do instead', async () => {
  const person = await withPassword();
  const answer = await person.call('POST /me/password', { body: { password: 'Password1234' } });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({
    param: 'password',
    message: expect.stringMatching(/lists that attackers try\. Choose another/),
  });
  expect((await person.call('POST /me/password', { body: { password: 'seven lamps under the pier' } })).status).toBe(
    200,
  );
});
