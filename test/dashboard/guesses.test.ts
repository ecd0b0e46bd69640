// @module-tag thorough
import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { ceilings, drainPerMinute, manyAddresses } from '../../src/engine/access/lockOut.ts';
import { purgeSignIns } from '../../src/storage/access/signInFailures.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';
import { eventually } from '../support/until.ts';

let dashboard: TestDashboard;
const warnings: string[] = [];
beforeAll(async () => {
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  dashboard = await startDashboard({ log, env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } });
});

/** Each in a block of its own. */
let places = 0;
const newPlace = (): string => {
  places += 1;
  return `100.${64 + (places >> 8)}.${places & 255}.7`;
};

type From = { readonly place?: string; readonly device?: string; readonly code?: string };

const guess = (email: string, password: string, { place = newPlace(), device, code }: From = {}) =>
  dashboard.stranger().call('POST /sign-in', {
    body: { email, password, ...(code === undefined ? {} : { code }) },
    headers: {
      'x-forwarded-for': place,
      'x-forwarded-proto': 'https',
      ...(device === undefined ? {} : { cookie: device }),
    },
  });
const guessWrong = (email: string, from?: From) => guess(email, 'not the password', from);

/** Signs in, and returns the cookie by which the device is known. */
const knownDevice = async ({ email }: DashboardClient, device?: string): Promise<string> => {
  const answer = await guess(email, testPassword, device === undefined ? {} : { device });
  expect(answer.status, answer.text).toBe(200);
  return answer.headers['set-cookie']![1]!.split(';', 1)[0]!;
};

const sql = (text: string): Promise<void> => dashboard.scene.admin.db.script(text);
const budgetOf = ({ email }: DashboardClient): string =>
  `subject = sha256(convert_to('email', 'UTF8') || '\\x00'::bytea || convert_to('${email}', 'UTF8'))`;
const fill = (person: DashboardClient, tries: number): Promise<void> =>
  sql(`update guess_budgets set tries = ${tries}, counted_at = clock_timestamp() where ${budgetOf(person)}`);
const triesOf = async (person: DashboardClient): Promise<number> => {
  const text = `select tries from guess_budgets where ${budgetOf(person)}`;
  return (await dashboard.scene.admin.db.query<{ tries: number }>({ name: '', text }))[0]?.tries ?? 0;
};

test('guesses from many addresses lock out neither a known device nor somebody at a new address', async () => {
  const person = await dashboard.newPerson('viewer');
  const device = await knownDevice(person);
  const attackers = Array.from({ length: 12 }, newPlace);
  const judged: number[] = [];
  for (let round = 0; round < 5; round++) {
    const statuses: number[] = [];
    for (const place of attackers) statuses.push((await guessWrong(person.email, { place })).status);
    judged.push(statuses.filter(status => status === 401).length);
    expect(statuses.filter(status => status !== 401 && status !== 429)).toEqual([]);
    expect((await guess(person.email, testPassword, { device, place: attackers[0]! })).status).toBe(200);
    expect((await guess(person.email, testPassword)).status).toBe(200);
    if (round === 2) await fill(person, ceilings[3] - 10);
  }
  expect(judged.slice(0, 3)).toEqual([12, 12, 12]);
  // Ten were left to addresses that had failed three times, and what drained meanwhile.
  const late = judged[3]! + judged[4]!;
  expect(late).toBeGreaterThanOrEqual(10);
  expect(late).toBeLessThan(20);
});

test('how often an address failed decides how much of the budget it may use', async () => {
  const person = await dashboard.newPerson('viewer');
  const places = [0, 1, 2, 3].map(() => newPlace());
  for (const [failures, place] of places.entries()) {
    for (let i = 0; i < failures; i++) expect((await guessWrong(person.email, { place })).status).toBe(401);
  }
  for (const [failures, ceiling] of ceilings.entries()) {
    await fill(person, ceiling);
    const refused = await guess(person.email, testPassword, { place: places[failures]! });
    expect(refused.status, `${failures} failures`).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    expect(await triesOf(person), 'a refused try does not count').toBeLessThanOrEqual(ceiling);
    await fill(person, ceiling - 1);
    expect((await guess(person.email, testPassword, { place: places[failures]! })).status, 'below it').toBe(200);
  }
});

test('the budget drains with time, and a right password is not counted', async () => {
  const person = await dashboard.newPerson('viewer');
  await guessWrong(person.email);
  await fill(person, ceilings[0]);
  expect((await guess(person.email, testPassword)).status).toBe(429);
  await sql(`update guess_budgets set counted_at = counted_at - interval '1 minute' where ${budgetOf(person)}`);
  for (let i = 0; i < drainPerMinute; i++) expect((await guessWrong(person.email)).status).toBe(401);
  expect((await guessWrong(person.email)).status).toBe(429);
  await fill(person, 7);
  expect((await guess(person.email, testPassword)).status).toBe(200);
  expect(Math.round(await triesOf(person))).toBe(7);
});

test('a right code does not count where something else fails', async () => {
  const { id } = await dashboard.scene.account();
  const person = await dashboard.newPerson('owner', id);
  await person.prove();
  const code = (await addTotp(person)).recoveryCodes[0]!;
  const of = `from audit_heads where account_id = '${id}'`;
  const { tamper } = dashboard.scene;
  await tamper(`create table kept_seal as select account_id, row_seal ${of};
    update audit_heads set row_seal = sha256(row_seal) where account_id = '${id}'`);
  for (let i = 0; i < 12; i++) expect((await guess(person.email, testPassword, { code })).status).toBe(503);
  expect(Math.round(await triesOf(person))).toBe(0);
  await tamper('update audit_heads h set row_seal = k.row_seal from kept_seal k where k.account_id = h.account_id');
  expect((await guess(person.email, testPassword, { code })).status).toBe(200);
});

test('addresses of one block count together', async () => {
  const person = await dashboard.newPerson('viewer');
  for (let i = 1; i <= 10; i++) expect((await guessWrong(person.email, { place: `192.0.2.${i}` })).status).toBe(401);
  await fill(person, ceilings[1]);
  expect((await guess(person.email, testPassword, { place: '192.0.2.99' })).status).toBe(429);
  expect((await guess(person.email, testPassword)).status).toBe(200);
});

test('a known device has five tries of its own, which lock it alone', async () => {
  const person = await dashboard.newPerson('viewer');
  const device = await knownDevice(person);
  for (let i = 0; i < 5; i++) expect((await guessWrong(person.email, { device })).status).toBe(401);
  expect((await guess(person.email, testPassword, { device })).status).toBe(429);
  expect((await guess(person.email, testPassword)).status).toBe(200);
});

test('the cookie of a device is for one person, hidden from scripts, and cannot be forged', async () => {
  const [person, other] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer')];
  const answer = await guess(person.email, testPassword);
  const [pair, ...attributes] = answer.headers['set-cookie']![1]!.split('; ');
  expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=34560000', 'Path=/', 'SameSite=Strict', 'Secure']);
  expect(pair).toMatch(/^__Host-florin-device-\d+=[\w-]{43}\.[\w-]{22}\.[\w-]{43}$/);
  const [subject, id, mac] = pair!.split('=')[1]!.split('.') as [string, string, string];
  const changed = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  const forged = [
    [changed(subject), id, mac],
    [subject, changed(id), mac],
    [subject, id, changed(mac)],
  ];
  await guessWrong(person.email);
  await guessWrong(other.email);
  await fill(person, ceilings[0]);
  await fill(other, ceilings[0]);
  for (const parts of forged) {
    const device = `${pair!.split('=')[0]}=${parts.join('.')}`;
    expect((await guess(person.email, testPassword, { device })).status).toBe(429);
  }
  expect((await guess(other.email, testPassword, { device: pair! })).status, 'of somebody else').toBe(429);
  expect((await guess(person.email, testPassword, { device: pair! })).status).toBe(200);
});

test('people who share a browser are all known there', async () => {
  const [first, second] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer')];
  const device = await knownDevice(second, await knownDevice(first));
  for (const person of [first, second]) {
    await guessWrong(person.email);
    await fill(person, ceilings[0]);
    expect((await guess(person.email, testPassword, { device })).status).toBe(200);
  }
});

test('an empty budget is removed, and one that still limits is not', async () => {
  const person = await dashboard.newPerson('viewer');
  await guessWrong(person.email);
  await fill(person, ceilings[0]);
  const age = (hours: number) =>
    sql(
      `update guess_budgets set counted_at = clock_timestamp() - interval '${hours} hours' where ${budgetOf(person)}`,
    );
  expect(ceilings[0] / drainPerMinute / 60).toBeLessThan(48);
  await age(47);
  await purgeSignIns(dashboard.scene.admin.db, 1_000);
  expect(await triesOf(person)).toBe(ceilings[0]);
  await age(49);
  await purgeSignIns(dashboard.scene.admin.db, 1_000);
  expect(await triesOf(person)).toBe(0);
});

const noticed = async (person: DashboardClient): Promise<unknown[]> => {
  const owner = await dashboard.as('owner');
  const { data } = await owner.do('GET /audit', { query: { action: 'person.guesses_noticed', limit: 200 } });
  return data.filter(row => row.subject === person.personId).map(row => row.detail);
};
const warned = (person: DashboardClient): string[] => warnings.filter(each => each.includes(person.personId));

test('guesses from many addresses are audited and logged once, until they have ended', async () => {
  const person = await dashboard.newPerson('viewer');
  for (let i = 1; i < manyAddresses; i++) await guessWrong(person.email);
  expect(await noticed(person)).toEqual([]);
  const first = { email: person.email, addresses: manyAddresses };
  for (let i = 0; i < 5; i++) await guessWrong(person.email);
  await eventually(async () => expect(await noticed(person)).toMatchObject([{ email: person.email }]));
  expect(Number(((await noticed(person)) as (typeof first)[])[0]!.addresses)).toBeGreaterThanOrEqual(manyAddresses);
  await eventually(async () => expect(warned(person)).toHaveLength(1));
  expect(warned(person)[0]).not.toContain('@');
  await sql(`update guess_budgets set counted_at = counted_at - interval '42 hours' where ${budgetOf(person)}`);
  for (let i = 0; i < manyAddresses; i++) await guessWrong(person.email);
  await eventually(async () => expect(await noticed(person)).toHaveLength(2));
  expect(warned(person)).toHaveLength(2);
});

test('codes beside the right password count for the person, whatever the address, and not as wrong passwords', async () => {
  const person = await dashboard.newPerson('viewer');
  const device = await knownDevice(person);
  await person.prove();
  const { recoveryCodes } = await addTotp(person);
  const [first, second] = recoveryCodes as [string, string];
  const tryCode = async (code: string, from: From = {}) => guess(person.email, testPassword, { ...from, code });
  const place = newPlace();
  for (let i = 0; i < 10; i++) {
    expect((await tryCode('nonsense', i < 6 ? { place } : {})).json.error).toMatchObject({ param: 'code' });
  }
  expect(await triesOf(person)).toBe(0);
  const refused = await tryCode(first);
  expect(refused.status, 'the right one, too').toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
  expect((await tryCode(first, { device })).status, 'a known device').toBe(200);
  await eventually(async () => {
    const rows = await dashboard.scene.admin.db.query({
      name: '',
      text: `select from audit_log where action = 'person.locked_out' and subject = '${person.personId}'
        and detail ->> 'what' = 'code'`,
    });
    expect(rows).toHaveLength(1);
  });
  const passHour = () => sql(`update sign_in_failures set failed_at = failed_at - interval '1 hour'`);
  await passHour();
  expect((await tryCode('nonsense')).status, 'one an hour').toBe(401);
  expect((await tryCode(second)).status).toBe(429);
  await passHour();
  expect((await tryCode(second)).status).toBe(200);
  expect((await tryCode('nonsense')).status, 'a right code gives no new tries').toBe(401);
  expect((await tryCode('nonsense')).status).toBe(429);
});
