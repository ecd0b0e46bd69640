import { beforeAll, expect, test } from 'vitest';
import { createAuthenticator, type Deviation, type TestAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const addTo = async (person: DashboardClient, name = 'Laptop'): Promise<{ device: TestAuthenticator; id: string }> => {
  await person.prove();
  const device = createAuthenticator(dashboard.url);
  const response = device.register(await person.do('POST /me/passkeys/options'));
  const { id } = await person.do('POST /me/passkeys', { body: { name, response } });
  return { device, id };
};

const signIn = async (device: TestAuthenticator, deviation: Deviation = {}) => {
  const client = dashboard.stranger();
  const response = device.authenticate(await client.do('POST /sign-in/passkey/options'), deviation);
  return { client, response, answer: await client.call('POST /sign-in/passkey', { body: { response } }) };
};

test('a passkey alone signs in, and is listed with when it was used', async () => {
  const person = await dashboard.newPerson('developer');
  const { device, id } = await addTo(person);
  expect(await person.do('GET /me/passkeys')).toEqual({
    data: [{ id, name: 'Laptop', createdAt: expect.any(String), lastUsedAt: null }],
  });
  const { client, answer } = await signIn(device);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toMatchObject({ state: 'signed-in', person: { id: person.personId, passkeys: 1 } });
  expect(await client.do('GET /me/passkeys')).toMatchObject({ data: [{ lastUsedAt: expect.any(String) }] });
});

test('the options ask for a discoverable credential, a verified user and nobody in particular', async () => {
  const person = await dashboard.newPerson('developer');
  await person.prove();
  expect(await person.do('POST /me/passkeys/options')).toMatchObject({
    rp: { id: 'localhost' },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const options = await dashboard.stranger().do('POST /sign-in/passkey/options');
  expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
  expect(options.allowCredentials ?? []).toEqual([]);
});

test('an answer is good once, also of a passkey that is kept in several places and so does not count', async () => {
  const { device } = await addTo(await dashboard.newPerson('developer'));
  const { client, response, answer } = await signIn(device, { counter: 0 });
  expect(answer.status).toBe(200);
  expect((await client.call('POST /sign-in/passkey', { body: { response } })).status).toBe(401);
});

test('a challenge that is too old, of another purpose or of nobody is refused', async () => {
  const person = await dashboard.newPerson('developer');
  const { device } = await addTo(person);
  const client = dashboard.stranger();
  const aged = device.authenticate(await client.do('POST /sign-in/passkey/options'));
  await dashboard.scene.admin.db.script(
    `update passkey_challenges set expires_at = clock_timestamp() - interval '1 second'`,
  );
  const forProof = device.authenticate(await person.do('POST /prove/passkey/options'));
  const invented = device.authenticate({ challenge: Buffer.alloc(32, 7).toString('base64url') });
  for (const response of [aged, forProof, invented]) {
    expect((await client.call('POST /sign-in/passkey', { body: { response } })).status).toBe(401);
  }
});

test.each<[string, Deviation]>([
  ['another origin', { origin: 'https://localhost.evil.example' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['nobody verified', { unverified: true }],
  ['another person', { userHandle: Buffer.from('usr_somebody').toString('base64url') }],
])('an answer for %s is refused', async (_, deviation) => {
  const { device } = await addTo(await dashboard.newPerson('developer'));
  const { answer } = await signIn(device, deviation);
  expect(answer.status).toBe(401);
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test('a counter that does not go up is a copy, and refused', async () => {
  const { device } = await addTo(await dashboard.newPerson('developer'));
  expect((await signIn(device, { counter: 5 })).answer.status).toBe(200);
  expect((await signIn(device, { counter: 5 })).answer.status).toBe(401);
  expect((await signIn(device, { counter: 4 })).answer.status).toBe(401);
  expect((await signIn(device, { counter: 6 })).answer.status).toBe(200);
});

test("a passkey of somebody else's key is refused", async () => {
  const person = await dashboard.newPerson('developer');
  const { device } = await addTo(person);
  const forged = createAuthenticator(dashboard.url);
  const client = dashboard.stranger();
  const response = forged.authenticate(await client.do('POST /sign-in/passkey/options'));
  const id = device.credentialId.toString('base64url');
  const answer = await client.call('POST /sign-in/passkey', { body: { response: { ...response, id, rawId: id } } });
  expect(answer.status).toBe(401);
});

test('while guessing has locked the password, the passkey still works', async () => {
  const person = await dashboard.newPerson('developer');
  const { device } = await addTo(person);
  for (let i = 0; i < 5; i++) {
    await dashboard.stranger().call('POST /sign-in', { body: { email: person.email, password: 'wrong' } });
  }
  const locked = await dashboard
    .stranger()
    .call('POST /sign-in', { body: { email: person.email, password: testPassword } });
  expect(locked.status).toBe(429);
  expect((await signIn(device)).answer.status).toBe(200);
});

test('a passkey proves who is there, in the session of its person alone', async () => {
  const [person, other] = [await dashboard.newPerson('developer'), await dashboard.newPerson('developer')];
  const { device } = await addTo(person);
  await person.unprove();
  const options = await person.do('POST /prove/passkey/options');
  expect(options.allowCredentials).toMatchObject([{ id: device.credentialId.toString('base64url') }]);
  const stolen = device.authenticate(await other.do('POST /prove/passkey/options'));
  expect((await other.call('POST /prove', { body: { response: stolen } })).status).toBe(401);
  await person.do('POST /prove', { body: { response: device.authenticate(options) } });
  expect(await person.do('GET /session')).toMatchObject({ provenUntil: expect.any(String) });
});

test('a passkey that was removed signs nobody in, and nobody removes that of another', async () => {
  const [person, other] = [await dashboard.newPerson('developer'), await dashboard.newPerson('owner')];
  const { device, id } = await addTo(person);
  await other.prove();
  expect((await other.call('DELETE /me/passkeys/:id', { params: { id } })).status).toBe(404);
  await person.do('DELETE /me/passkeys/:id', { params: { id } });
  expect((await signIn(device)).answer.status).toBe(401);
});

test.each([
  {},
  { response: 7 },
  { response: { clientDataJSON: '!' } },
  { id: 'x', response: { clientDataJSON: 'e30' } },
])('what is no answer of an authenticator is refused: %j', async response => {
  const person = await dashboard.newPerson('developer');
  await person.prove();
  expect((await dashboard.stranger().call('POST /sign-in/passkey', { body: { response } })).status).toBe(401);
  expect((await person.call('POST /me/passkeys', { body: { name: 'X', response } })).status).toBe(400);
  expect((await person.call('POST /prove', { body: { response } })).status).toBe(401);
});

test('one passkey cannot be registered twice', async () => {
  const person = await dashboard.newPerson('developer');
  const { device } = await addTo(person);
  const response = device.register(await person.do('POST /me/passkeys/options'));
  expect((await person.call('POST /me/passkeys', { body: { name: 'Again', response } })).status).toBe(409);
});
