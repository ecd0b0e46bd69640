import { createHmac } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { base32Of, totpCode, totpStep } from '../../src/vault/totp.ts';
import {
  cookieName,
  type DashboardClient,
  startDashboard,
  type TestDashboard,
  testPassword,
} from '../support/dashboard.ts';
import { bytesOf } from '../support/secondFactor.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const signIn = (client: DashboardClient, email: string, more: Record<string, string> = {}) =>
  client.call('POST /sign-in', { body: { email, password: testPassword, ...more } });

type Secured = {
  person: DashboardClient;
  secret: string;
  recoveryCodes: string[];
  /** The code that confirmed the app, and the next one, which is already valid. */
  codes: { taken: string; next: string };
};

const withTotp = async (): Promise<Secured> => {
  const person = await dashboard.newPerson('developer');
  await person.prove();
  const { secret } = await person.do('POST /me/totp/begin');
  const step = totpStep(Date.now());
  const codes = { taken: totpCode(bytesOf(secret), step), next: totpCode(bytesOf(secret), step + 1n) };
  const { recoveryCodes } = await person.do('POST /me/totp', { body: { code: codes.taken } });
  return { person, secret, recoveryCodes, codes };
};

test('a password opens a session in a cookie that scripts, other sites and plain HTTP never get', async () => {
  const person = await dashboard.newPerson('viewer');
  const client = dashboard.stranger();
  const answer = await signIn(client, ` ${person.email.toUpperCase()} `);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toMatchObject({ state: 'signed-in', person: { id: person.personId, role: 'viewer' } });
  const [cookie] = answer.headers['set-cookie']!;
  const [pair, ...attributes] = cookie!.split('; ');
  const { port } = new URL(dashboard.url);
  expect(pair).toMatch(new RegExp(`^__Host-florin-${port}=[A-Za-z0-9_-]{43}$`));
  expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict', 'Secure']);
  expect(await client.do('GET /session')).toMatchObject({ state: 'signed-in', provenUntil: expect.any(String) });
});

test('a wrong password, an unknown e-mail and no e-mail at all get the same answer', async () => {
  const person = await dashboard.newPerson('viewer');
  const client = dashboard.stranger();
  const answers = [
    await signIn(client, person.email, { password: `${testPassword}!` }),
    await signIn(client, 'nobody@example.com'),
    await signIn(client, 'nothing at all'),
  ];
  for (const { status, json, headers } of answers) {
    expect(status).toBe(401);
    expect(json.error).toMatchObject({ code: 'unauthorized', message: answers[0]!.json.error!.message });
    expect(headers['set-cookie']).toBeUndefined();
  }
});

test('a cookie from before is not the one that is signed in', async () => {
  const person = await dashboard.newPerson('viewer');
  const planted = `${cookieName(dashboard.url)}=${'A'.repeat(43)}`;
  const client = dashboard.stranger();
  client.cookie = planted;
  expect((await signIn(client, person.email)).status).toBe(200);
  expect(client.cookie).not.toBe(planted);
  const attacker = dashboard.stranger();
  attacker.cookie = planted;
  expect(await attacker.do('GET /session')).toEqual({ state: 'signed-out', ended: 'unknown' });
});

test('each sign-in has a token of its own, and the database has none of them', async () => {
  const person = await dashboard.newPerson('viewer');
  const [one, two] = [dashboard.stranger(), dashboard.stranger()];
  await signIn(one, person.email);
  await signIn(two, person.email);
  expect(one.cookie).not.toBe(two.cookie);
  const token = one.cookie.split('=')[1]!;
  const rows = await dashboard.scene.admin.db.query({
    name: '',
    text: `select encode(token_hash, 'escape') || encode(token_hash, 'base64') as text from sessions`,
  });
  expect(JSON.stringify(rows)).not.toContain(token);
});

test('with an authenticator, a password alone is not enough, and a code works once', async () => {
  const { person, codes } = await withTotp();
  const client = dashboard.stranger();
  const half = await signIn(client, person.email);
  expect(half.json).toEqual({ state: 'code-needed' });
  expect(half.headers['set-cookie']).toBeUndefined();
  const { taken, next } = codes;
  const used = await signIn(client, person.email, { code: taken });
  expect(used.status, 'it turned the authenticator on').toBe(401);
  expect((await signIn(client, person.email, { code: next })).json).toMatchObject({ state: 'signed-in' });
  const replayed = await signIn(dashboard.stranger(), person.email, { code: next });
  expect(replayed.status).toBe(401);
  expect(replayed.json.error).toMatchObject({ param: 'code' });
});

test('of two sign-ins with the same code at the same time one succeeds', async () => {
  const { person, codes } = await withTotp();
  const answers = await Promise.all(
    [1, 2, 3].map(() => signIn(dashboard.stranger(), person.email, { code: codes.next })),
  );
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 401, 401]);
});

test('a recovery code stands in for a code, once; there are ten, and new ones replace them', async () => {
  const { person, recoveryCodes } = await withTotp();
  expect(new Set(recoveryCodes).size).toBe(10);
  const [first, second] = recoveryCodes as [string, string];
  const spelled = first.toUpperCase().replace('-', ' ');
  expect((await signIn(dashboard.stranger(), person.email, { code: spelled })).status).toBe(200);
  expect((await signIn(dashboard.stranger(), person.email, { code: first })).status).toBe(401);
  expect(await person.do('GET /session')).toMatchObject({ person: { recoveryCodesLeft: 9, hasTotp: true } });
  const { recoveryCodes: fresh } = await person.do('POST /me/recovery-codes');
  expect((await signIn(dashboard.stranger(), person.email, { code: second })).status).toBe(401);
  expect((await signIn(dashboard.stranger(), person.email, { code: fresh[0]! })).status).toBe(200);
});

test('an authenticator that was turned off asks for nothing, and its secret was never in clear', async () => {
  const { person, secret } = await withTotp();
  const { db } = dashboard.scene.admin;
  const [row] = await db.query<{ sealed: Buffer }>({
    name: '',
    text: `select totp_secret as sealed from people where id = '${person.personId}'`,
  });
  expect(row!.sealed.includes(bytesOf(secret))).toBe(false);
  expect(base32Of(bytesOf(secret))).toBe(secret);
  await person.do('DELETE /me/totp');
  expect((await signIn(dashboard.stranger(), person.email)).json).toMatchObject({ state: 'signed-in' });
});

test('a code of another secret does not turn an authenticator on', async () => {
  const person = await dashboard.newPerson('viewer');
  await person.prove();
  await person.do('POST /me/totp/begin');
  const wrong = createHmac('sha1', 'another').digest();
  const answer = await person.call('POST /me/totp', { body: { code: totpCode(wrong, totpStep(Date.now())) } });
  expect(answer.status).toBe(400);
  expect(await person.do('GET /session')).toMatchObject({ person: { hasTotp: false, recoveryCodesLeft: 0 } });
});

test('a picture of the secret comes with it', async () => {
  const person = await dashboard.newPerson('viewer');
  await person.prove();
  const { uri, secret, qr } = await person.do('POST /me/totp/begin');
  expect(uri).toContain(`secret=${secret}`);
  expect(uri).toContain(encodeURIComponent(person.email));
  expect(qr).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
});
