// @module-tag thorough
import { beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../../src/vault/passwords.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } });
});

/** Each test uses its own client addresses. */
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

const guessWrong = async (email: string, place: string, times: number): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) statuses.push((await guess(email, place)).status);
  return statuses;
};

const pass = (seconds: number): Promise<void> =>
  dashboard.scene.admin.db.script(`update sign_in_failures set failed_at = failed_at - interval '${seconds} seconds'`);

const auditOf = async (person: DashboardClient): Promise<string[]> => {
  const owner = await dashboard.as('owner');
  const { data } = await owner.do('GET /audit', { query: { action: 'person.locked_out', limit: 200 } });
  return data.filter(row => row.subject === person.personId).map(row => JSON.stringify(row.detail));
};

test('five wrong passwords lock the account from there, for the right one too, and it opens again', async () => {
  const person = await dashboard.newPerson('viewer');
  const place = newPlace();
  expect(await guessWrong(person.email, place, 5)).toEqual([401, 401, 401, 401, 401]);
  const refused = await guess(person.email, place, testPassword);
  expect(refused.status).toBe(429);
  expect(refused.json.error).toMatchObject({ code: 'rate_limit_exceeded' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(15);
  await pass(15);
  expect((await guess(person.email, place, testPassword)).status).toBe(200);
  // The right password has reset the count.
  expect(await guessWrong(person.email, place, 4)).toEqual([401, 401, 401, 401]);
});

test('who guesses from elsewhere keeps nobody out, neither of signing in nor of a proof', async () => {
  const person = await dashboard.newPerson('viewer');
  const outside = newPlace();
  await guessWrong(person.email, outside, 5);
  expect((await guess(person.email, outside)).status).toBe(429);
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(200);
  expect((await person.call('POST /prove', { body: { password: testPassword } })).status).toBe(200);
});

test('each further failure waits twice as long', async () => {
  const person = await dashboard.newPerson('viewer');
  const place = newPlace();
  await guessWrong(person.email, place, 5);
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    const refused = await guess(person.email, place);
    waits.push(Math.round(Number(refused.headers['retry-after']) / 15));
    await pass(4_000);
    expect((await guess(person.email, place)).status).toBe(401);
  }
  expect(waits).toEqual([1, 2, 4, 8]);
});

test('an e-mail of nobody is locked in the same way, and says the same', async () => {
  const person = await dashboard.newPerson('viewer');
  const answers = [];
  for (const email of [person.email, 'nobody.at.all@example.com']) {
    const place = newPlace();
    const statuses = await guessWrong(email, place, 5);
    const { status, json } = await guess(email, place);
    answers.push({ statuses, status, code: json.error!.code, message: json.error!.message.replace(/\d+ s/, 'N s') });
  }
  expect(answers[0]).toEqual(answers[1]);
});

test('many guesses at the same time are counted one by one', async () => {
  const person = await dashboard.newPerson('viewer');
  const place = newPlace();
  const answers = await Promise.all(Array.from({ length: 12 }, () => guess(person.email, place)));
  expect(answers.filter(answer => answer.status === 401)).toHaveLength(5);
  expect(answers.filter(answer => answer.status === 429)).toHaveLength(7);
});

const countRows = async (): Promise<number> => {
  const [row] = await dashboard.scene.admin.db.query<{ rows: number }>({
    name: '',
    text: 'select count(*)::int as rows from sign_in_failures',
  });
  return row!.rows;
};

test('what is refused leaves nothing behind', async () => {
  const place = newPlace();
  for (let i = 0; i < 20; i++) await guess(`anybody${i}@example.com`, place);
  const before = await countRows();
  for (let i = 0; i < 5; i++) expect((await guess(`further${i}@example.com`, place)).status).toBe(429);
  expect(await countRows()).toBe(before);
});

test('a password that could not be looked at is no wrong one', async () => {
  const person = await dashboard.newPerson('viewer');
  const place = newPlace();
  let isFull = true;
  const fill = async (): Promise<void> => {
    while (isFull) await hashPassword('whatever it may be');
  };
  // As many as may run and wait at once; each starts again when it is done.
  const filling = Array.from({ length: 22 }, fill);
  try {
    expect(await guessWrong(person.email, place, 6)).toEqual([503, 503, 503, 503, 503, 503]);
    const proof = { body: { password: testPassword } };
    for (let i = 0; i < 6; i++) expect((await person.call('POST /prove', proof)).status).toBe(503);
  } finally {
    isFull = false;
    await Promise.all(filling);
  }
  expect(await guessWrong(person.email, place, 4)).toEqual([401, 401, 401, 401]);
  expect((await guess(person.email, place, testPassword)).status).toBe(200);
  expect((await person.call('POST /prove', { body: { password: testPassword } })).status).toBe(200);
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
  const place = newPlace();
  await dashboard.scene.admin.db.script(
    `update people set totp_secret = decode('00', 'hex') where id = '${person.personId}'`,
  );
  expect(await guessWrong(person.email, place, 4)).toEqual([401, 401, 401, 401]);
  for (let i = 0; i < 3; i++) {
    expect((await guess(person.email, place, testPassword)).json).toEqual({ state: 'code-needed' });
  }
  expect((await guess(person.email, place)).status, 'the fifth failure').toBe(401);
  expect((await guess(person.email, place, testPassword)).status).toBe(429);
});

test('wrong proofs lock further ones from everywhere, and not signing in', async () => {
  const person = await dashboard.newPerson('viewer');
  const prove = (password: string) =>
    person.call('POST /prove', {
      body: { password },
      headers: { 'x-forwarded-for': newPlace(), 'x-forwarded-proto': 'https' },
    });
  for (let i = 0; i < 5; i++) expect((await prove('not it')).status).toBe(401);
  expect((await prove(testPassword)).status).toBe(429);
  expect(await person.do('GET /session'), 'the session itself goes on').toMatchObject({ state: 'signed-in' });
  expect((await guess(person.email, newPlace(), testPassword)).status).toBe(200);
});

test('failures that lock are in the audit log, the few before them are not', async () => {
  const person = await dashboard.newPerson('viewer');
  const place = newPlace();
  await guessWrong(person.email, place, 4);
  expect(await auditOf(person)).toEqual([]);
  await guessWrong(person.email, place, 3);
  await expect
    .poll(() => auditOf(person))
    .toEqual([JSON.stringify({ email: person.email, failures: 5, what: 'password' })]);
});
