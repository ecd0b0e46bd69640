import { beforeAll, expect, test } from 'vitest';
import { openSession } from '../../src/engine/access/sessions.ts';
import { purgeSignIns } from '../../src/storage/access/signInFailures.ts';
import { expectError } from '../api/paymentCalls.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const again = async (person: DashboardClient): Promise<DashboardClient> => {
  const client = dashboard.stranger();
  await client.do('POST /sign-in', {
    body: { email: person.email, password: testPassword },
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  });
  return client;
};

const isIn = async (client: DashboardClient): Promise<boolean> => (await client.call('GET /team')).status === 200;

const idOf = async (client: DashboardClient): Promise<string> =>
  (await client.do('GET /me/sessions')).data.find(session => session.isThis)!.id;

const move = (person: DashboardClient, column: string, seconds: number): Promise<void> =>
  dashboard.scene.admin.db.script(
    `update sessions set ${column} = ${column} - interval '${seconds} seconds' where person_id = '${person.personId}'`,
  );

test('sessions are listed by device, and one that is ended is refused at its next call', async () => {
  const person = await dashboard.newPerson('viewer');
  const other = await again(person);
  const { data } = await person.do('GET /me/sessions');
  expect(data.map(session => [session.isThis, session.device])).toEqual(
    expect.arrayContaining([
      [true, 'Test'],
      [false, 'Firefox on Linux'],
    ]),
  );
  const id = await idOf(other);
  await person.do('DELETE /me/sessions/:id', { params: { id } });
  expect(await isIn(other)).toBe(false);
  expect(await isIn(person)).toBe(true);
  expect((await person.call('DELETE /me/sessions/:id', { params: { id } })).status).toBe(404);
});

test('all others can be ended at once', async () => {
  const person = await dashboard.newPerson('viewer');
  const others = [await again(person), await again(person)];
  await person.do('POST /me/sessions/end-others');
  expect(await Promise.all(others.map(isIn))).toEqual([false, false]);
  expect(await isIn(person)).toBe(true);
});

/** An owner with a second factor, and a session by password that is older or newer than it. Later they sign in with a code. */
const startTwo = async (isOlder: boolean) => {
  const first = await dashboard.newPerson('owner');
  await first.do('POST /prove', { body: { password: testPassword } });
  const { recoveryCodes, next } = await addTotp(first);
  const proof = { email: first.email, password: testPassword };
  const signIn = async (code: string): Promise<DashboardClient> => {
    const client = dashboard.stranger();
    await client.do('POST /sign-in', { body: { ...proof, code } });
    return client;
  };
  const weak = isOlder ? first : await signIn(recoveryCodes[2]!);
  await first.unprove();
  const owner = await signIn(recoveryCodes[0]!);
  const [id, own] = [await idOf(owner), await idOf(weak)];
  await dashboard.scene.admin.db.script(`update sessions set strongly_proven_until = now() - interval '1 hour'
    where id = '${id}'`);
  return { weak, owner, id, own, next, unprove: () => first.unprove(), again: () => signIn(recoveryCodes[1]!) };
};

test('a session ends a later one that had a second factor only with one of its own', async () => {
  const { weak, owner, id, own, next, unprove, again: signInAgain } = await startTwo(false);
  expectError(await weak.call('POST /me/sessions/end-others'), 403, 'permission_denied', 'secondFactor');
  const one = { params: { id } };
  expectError(await weak.call('DELETE /me/sessions/:id', one), 403, 'permission_denied', 'secondFactor');
  expect(await isIn(owner)).toBe(true);
  await weak.do('POST /prove', { body: { password: testPassword, code: next } });
  await weak.do('POST /me/sessions/end-others');
  expect(await isIn(owner), 'with a fresh proof').toBe(false);
  await unprove();
  const later = await signInAgain();
  await unprove();
  await later.do('DELETE /me/sessions/:id', { params: { id: own } });
  expect(await isIn(weak), 'an earlier one').toBe(false);
});

test('a session from before the first second factor ends a later one: a thief may have added that factor', async () => {
  const { weak, owner, id, again: signInAgain } = await startTwo(true);
  await weak.do('DELETE /me/sessions/:id', { params: { id } });
  expect(await isIn(owner)).toBe(false);
  const later = await signInAgain();
  await weak.do('POST /me/sessions/end-others');
  expect(await isIn(later)).toBe(false);
  const last = await startTwo(true);
  const until = `update people set earlier_until = earlier_until - interval '48 hours'`;
  await dashboard.scene.admin.db.script(`${until} where id = '${last.weak.personId}'`);
  const answer = await last.weak.call('POST /me/sessions/end-others');
  expectError(answer, 403, 'permission_denied', 'secondFactor');
  expect(await isIn(last.owner), 'once no earlier sign-in is kept').toBe(true);
});

test('a person has fifty sessions at most: the one unused the longest makes room', async () => {
  const person = await dashboard.newPerson('viewer');
  const { admin } = dashboard.scene;
  const visit = { address: '127.0.0.1', device: 'Other', port: '443' };
  const whom = { accountId: dashboard.accountId, id: person.personId };
  await move(person, 'last_seen_at', 60);
  for (let i = 0; i < 49; i++) await admin.db.transaction(tx => openSession(admin, tx, whom, visit));
  expect(await isIn(person)).toBe(true);
  await move(person, 'last_seen_at', 60);
  await admin.db.transaction(tx => openSession(admin, tx, whom, visit));
  const { length } = await admin.db.query({
    name: '',
    text: `select from sessions where person_id = '${person.personId}'`,
  });
  expect(length).toBe(50);
});

test('what time has made void is removed, and nothing else', async () => {
  const [gone, kept] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer')];
  const { db } = dashboard.scene.admin;
  await dashboard.stranger().do('POST /sign-in/passkey/options');
  await dashboard.stranger().call('POST /sign-in', { body: { email: 'nobody@example.com', password: 'wrong' } });
  await db.script(`update passkey_challenges set expires_at = clock_timestamp() - interval '1 second';
    update sign_in_failures set failed_at = clock_timestamp() - interval '25 hours'`);
  await dashboard.stranger().do('POST /sign-in/passkey/options');
  await move(gone, 'expires_at', 8 * 86_400);
  await purgeSignIns(db, 1_000);
  const count = async (from: string) => (await db.query({ name: '', text: `select from ${from}` })).length;
  expect(await count('passkey_challenges')).toBe(1);
  expect(await count('sign_in_failures')).toBe(0);
  expect(await count(`sessions where person_id = '${gone.personId}'`)).toBe(0);
  expect(await count(`sessions where person_id = '${kept.personId}'`)).toBe(1);
});

test('nobody ends the session of somebody else', async () => {
  const [person, other] = [await dashboard.newPerson('owner'), await dashboard.newPerson('viewer')];
  const id = await idOf(other);
  expect((await person.call('DELETE /me/sessions/:id', { params: { id } })).status).toBe(404);
  expect(await isIn(other)).toBe(true);
});

test('signing out ends the session itself, not only the cookie', async () => {
  const person = await dashboard.newPerson('viewer');
  const { cookie } = person;
  const answer = await person.call('POST /sign-out');
  expect(answer.headers['set-cookie']![0]).toMatch(/^__Host-florin-\d+=; .*Max-Age=0$/);
  person.cookie = cookie;
  expect(await isIn(person)).toBe(false);
});

test('a session ends half an hour after its last use, and twelve hours after its first', async () => {
  const idle = await dashboard.newPerson('viewer');
  await move(idle, 'last_seen_at', 1_800 - 60);
  expect(await isIn(idle), 'still').toBe(true);
  // The use has extended the session.
  await move(idle, 'last_seen_at', 1_800 - 60);
  expect(await isIn(idle), 'used in between').toBe(true);
  await move(idle, 'last_seen_at', 1_800 + 60);
  expect(await isIn(idle)).toBe(false);
  const old = await dashboard.newPerson('viewer');
  await move(old, 'expires_at', 12 * 3600 - 60);
  expect(await isIn(old)).toBe(true);
  await move(old, 'expires_at', 120);
  expect(await isIn(old)).toBe(false);
});

test('the cookie lives as long as the session at most', async () => {
  const { email } = await dashboard.newPerson('viewer');
  const answer = await dashboard.stranger().call('POST /sign-in', { body: { email, password: testPassword } });
  expect(answer.headers['set-cookie']![0]).toContain('; Max-Age=43200');
});

test('what a page asks by itself is answered, but does not keep a session alive', async () => {
  const person = await dashboard.newPerson('viewer');
  const headers = { 'x-florin-background': '1' };
  await move(person, 'last_seen_at', 1_200);
  expect((await person.call('GET /announcements', { headers })).status).toBe(200);
  await move(person, 'last_seen_at', 1_200);
  expect((await person.call('GET /announcements', { headers })).status).toBe(401);
  const active = await dashboard.newPerson('viewer');
  await move(active, 'last_seen_at', 1_200);
  await active.do('PATCH /me', { body: { name: 'Active' }, headers });
  await move(active, 'last_seen_at', 1_200);
  expect(await isIn(active), 'a change is always of somebody').toBe(true);
});

test('sensitive steps ask for a proof, which lasts a few minutes', async () => {
  const person = await dashboard.newPerson('viewer');
  const change = () => person.call('POST /me/totp/begin');
  const asked = await change();
  expect(asked.status).toBe(403);
  expect(asked.json.error).toMatchObject({ code: 'permission_denied', param: 'proof' });
  const wrong = await person.call('POST /prove', { body: { password: 'something else' } });
  expect(wrong.status).toBe(401);
  expect((await change()).status).toBe(403);
  const { provenUntil } = await person.do('POST /prove', { body: { password: testPassword } });
  expect(new Date(provenUntil).getTime()).toBeGreaterThan(Date.now());
  expect((await change()).status).toBe(200);
  await move(person, 'proven_until', 300);
  expect((await change()).status).toBe(403);
});

test('a proof in one session is none in another', async () => {
  const person = await dashboard.newPerson('viewer');
  const other = await again(person);
  await dashboard.scene.admin.db.script(
    `update sessions set proven_until = null where person_id = '${person.personId}'`,
  );
  await other.do('POST /prove', { body: { password: testPassword } });
  expect((await person.call('POST /me/totp/begin')).status).toBe(403);
});

test.each([{}, { password: 'x', response: {} }, { code: '123456' }])('a proof of %j is none', async body => {
  const person = await dashboard.newPerson('viewer');
  expect((await person.call('POST /prove', { body })).status).toBe(400);
});

test('a new password ends the other sessions and replaces the old one', async () => {
  const person = await dashboard.newPerson('viewer');
  const other = await again(person);
  await person.prove();
  const password = 'another river, by night';
  await person.do('POST /me/password', { body: { password } });
  expect(await isIn(other)).toBe(false);
  expect(await isIn(person)).toBe(true);
  const signIn = (given: string) =>
    dashboard.stranger().call('POST /sign-in', { body: { email: person.email, password: given } });
  expect((await signIn(testPassword)).status).toBe(401);
  expect((await signIn(password)).status).toBe(200);
});

test.each([
  ['short', 'eleven char'],
  ['long', 'long enough '.repeat(22)],
  ['the e-mail', (person: DashboardClient) => person.email.toUpperCase()],
  ['common', 'password1234'],
  ['one letter', 'aaaaaaaaaaaaaaa'],
])('a password that is %s is refused', async (_, given) => {
  const person = await dashboard.newPerson('viewer');
  await person.prove();
  const password = typeof given === 'string' ? given : given(person);
  const answer = await person.call('POST /me/password', { body: { password } });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({ param: 'password' });
});

test('a name can be changed, to one', async () => {
  const person = await dashboard.newPerson('viewer');
  expect(await person.do('PATCH /me', { body: { name: '  Ada Lovelace ' } })).toMatchObject({ name: 'Ada Lovelace' });
  for (const name of ['   ', 'a\nb', 'x'.repeat(300)]) {
    expect((await person.call('PATCH /me', { body: { name } })).status, JSON.stringify(name)).toBe(400);
  }
});

test('signing in again ends what the browser had before', async () => {
  const [person, other] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer')];
  const before = dashboard.stranger();
  before.cookie = person.cookie;
  await person.do('POST /sign-in', { body: { email: other.email, password: testPassword } });
  expect(await isIn(before)).toBe(false);
  expect(await person.do('GET /session')).toMatchObject({ state: 'signed-in', person: { id: other.personId } });
});
