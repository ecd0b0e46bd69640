import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } });
});
afterAll(() => dashboard.stop());

/** Each test knocks from addresses of its own. */
let places = 0;
const newPlace = (): string => {
  places += 1;
  return `203.0.113.${places}`;
};

const guess = (email: string, place: string, password = 'not the password') =>
  dashboard.stranger().call('POST /sign-in', {
    body: { email, password },
    headers: { 'x-forwarded-for': place, 'x-forwarded-proto': 'https' },
  });

const guessWrong = async (email: string, place: () => string, times: number): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) statuses.push((await guess(email, place())).status);
  return statuses;
};

const pass = (seconds: number): Promise<void> =>
  dashboard.scene.admin.db.script(`update sign_in_failures set failed_at = failed_at - interval '${seconds} seconds'`);

const auditOf = async (person: DashboardClient): Promise<string[]> => {
  const owner = await dashboard.as('owner');
  const { data } = await owner.do('GET /audit', { query: { action: 'person.locked_out', limit: 200 } });
  return data.filter(row => row.subject === person.personId).map(row => JSON.stringify(row.detail));
};

test('five wrong passwords lock the account, for the right one too, and it opens again', async () => {
  const person = await dashboard.newPerson('viewer');
  expect(await guessWrong(person.email, newPlace, 5)).toEqual([401, 401, 401, 401, 401]);
  const refused = await guess(person.email, newPlace(), testPassword);
  expect(refused.status).toBe(429);
  expect(refused.json.error).toMatchObject({ code: 'rate_limit_exceeded' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(15);
  await pass(15);
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(200);
  // Forgiven: the count begins anew.
  expect(await guessWrong(person.email, newPlace, 4)).toEqual([401, 401, 401, 401]);
});

test('each further failure waits twice as long', async () => {
  const person = await dashboard.newPerson('viewer');
  await guessWrong(person.email, newPlace, 5);
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    const refused = await guess(person.email, newPlace());
    waits.push(Math.round(Number(refused.headers['retry-after']) / 15));
    await pass(4_000);
    expect((await guess(person.email, newPlace())).status).toBe(401);
  }
  expect(waits).toEqual([1, 2, 4, 8]);
});

test('an e-mail of nobody is locked in the same way, and says the same', async () => {
  const person = await dashboard.newPerson('viewer');
  const answers = [];
  for (const email of [person.email, 'nobody.at.all@example.com']) {
    const statuses = await guessWrong(email, newPlace, 5);
    const { status, json } = await guess(email, newPlace());
    answers.push({ statuses, status, code: json.error!.code, message: json.error!.message.replace(/\d+ s/, 'N s') });
  }
  expect(answers[0]).toEqual(answers[1]);
});

test('many guesses at the same time are counted one by one', async () => {
  const person = await dashboard.newPerson('viewer');
  const answers = await Promise.all(Array.from({ length: 12 }, () => guess(person.email, newPlace())));
  expect(answers.filter(answer => answer.status === 401)).toHaveLength(5);
  expect(answers.filter(answer => answer.status === 429)).toHaveLength(7);
});

test('an address that tries many people is locked as well, others are not', async () => {
  const place = newPlace();
  for (let i = 0; i < 20; i++) expect((await guess(`somebody${i}@example.com`, place)).status).toBe(401);
  const person = await dashboard.newPerson('viewer');
  expect((await guess(person.email, place, testPassword)).status).toBe(429);
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(200);
});

test('a right password without its code neither counts nor forgives', async () => {
  const person = await dashboard.newPerson('viewer');
  await dashboard.scene.admin.db.script(
    `update people set totp_secret = decode('00', 'hex') where id = '${person.personId}'`,
  );
  expect(await guessWrong(person.email, newPlace, 4)).toEqual([401, 401, 401, 401]);
  for (let i = 0; i < 3; i++) {
    expect((await guess(person.email, newPlace(), testPassword)).json).toEqual({ state: 'code-needed' });
  }
  expect((await guess(person.email, newPlace())).status, 'the fifth failure').toBe(401);
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(429);
});

test('wrong proofs in a session lock as wrong sign-ins do', async () => {
  const person = await dashboard.newPerson('viewer');
  for (let i = 0; i < 5; i++) {
    const headers = { 'x-forwarded-for': newPlace(), 'x-forwarded-proto': 'https' };
    expect((await person.call('POST /prove', { body: { password: 'not it' }, headers })).status).toBe(401);
  }
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(429);
  expect(await person.do('GET /session'), 'the session itself goes on').toMatchObject({ state: 'signed-in' });
});

test('one address asks for so much a minute, and no more', async () => {
  const headers = { 'x-forwarded-for': newPlace(), 'x-forwarded-proto': 'https' };
  const ask = (more = headers) => dashboard.stranger().call('POST /sign-in/passkey/options', { headers: more });
  const answers = await Promise.all(Array.from({ length: 70 }, () => ask()));
  const refused = answers.filter(answer => answer.status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.filter(answer => answer.status === 200).length).toBeGreaterThanOrEqual(60);
  expect(Number(refused[0]!.headers['retry-after'])).toBeGreaterThan(0);
  expect((await ask({ ...headers, 'x-forwarded-for': newPlace() })).status).toBe(200);
});

test('failures that lock are in the audit log, the few before them are not', async () => {
  const person = await dashboard.newPerson('viewer');
  await guessWrong(person.email, newPlace, 4);
  expect(await auditOf(person)).toEqual([]);
  await guessWrong(person.email, newPlace, 3);
  expect(await auditOf(person)).toEqual([JSON.stringify({ failures: 5, what: 'password' })]);
});
