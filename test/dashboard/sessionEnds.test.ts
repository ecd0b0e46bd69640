import { beforeAll, expect, test } from 'vitest';
import { purgeSignIns } from '../../src/storage/access/signInFailures.ts';
import {
  cookieName,
  type DashboardClient,
  startDashboard,
  type TestDashboard,
  testPassword,
} from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const again = async (person: DashboardClient): Promise<DashboardClient> => {
  const client = dashboard.stranger();
  await client.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  return client;
};
const sql = (text: string): Promise<void> => dashboard.scene.admin.db.script(text);

const ways: [string, string, (person: DashboardClient) => Promise<unknown>][] = [
  ['too long without use', 'idle', ({ personId }) => sql(`update sessions set last_seen_at = last_seen_at - interval '31 minutes' where person_id = '${personId}'`)],
  ['twelve hours', 'expired', ({ personId }) => sql(`update sessions set expires_at = expires_at - interval '13 hours' where person_id = '${personId}'`)],
  ['signing out in another tab', 'signed_out', async person => {
    const { cookie } = person;
    await person.do('POST /sign-out');
    person.cookie = cookie;
  }],
  ['another device', 'ended', async person => (await again(person)).do('POST /me/sessions/end-others')],
  ['a new password', 'password_changed', async person => {
    const other = await again(person);
    await other.prove();
    await other.do('POST /me/password', { body: { password: 'another quiet river at noon' } });
  }],
  ['a new role', 'role_changed', async ({ personId }) => {
    const owner = await dashboard.as('owner');
    await owner.prove();
    await owner.do('PATCH /team/:id', { params: { id: personId }, body: { role: 'viewer' } });
  }],
  ['being removed', 'removed', async ({ personId }) => {
    const owner = await dashboard.as('owner');
    await owner.prove();
    await owner.do('DELETE /team/:id', { params: { id: personId } });
  }],
  ['a database that knows nothing of it', 'unknown', ({ personId }) => sql(`delete from sessions where person_id = '${personId}'`)],
]; // biome-ignore format: one line a way

test.each(ways)('a session that ended by %s says %s', async (_, ended, end) => {
  const person = await dashboard.newPerson('support');
  await end(person);
  expect((await person.call('GET /team')).status).toBe(401);
  expect(await person.do('GET /session')).toEqual({ state: 'signed-out', ended });
});

test('a cookie of no form says that it is not known, and who has none is told nothing', async () => {
  const stranger = dashboard.stranger();
  expect(await stranger.do('GET /session')).toEqual({ state: 'signed-out' });
  stranger.cookie = `${cookieName(dashboard.url)}=x`;
  expect(await stranger.do('GET /session')).toEqual({ state: 'signed-out', ended: 'unknown' });
});

test('why a session ended is forgotten once its cookie is gone', async () => {
  const person = await dashboard.newPerson('support');
  const other = await again(person);
  await other.do('POST /me/sessions/end-others');
  const { db } = dashboard.scene.admin;
  await purgeSignIns(db, 1_000);
  expect(await person.do('GET /session')).toEqual({ state: 'signed-out', ended: 'ended' });
  await sql(`update ended_sessions set ended_at = ended_at - interval '25 hours'`);
  await purgeSignIns(db, 1_000);
  expect(await db.query({ name: '', text: 'select from ended_sessions' })).toEqual([]);
});
