import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../src/core/access/rights.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { lockTeam } from '../../src/storage/access/accessLinks.ts';
import { updateRole } from '../../src/storage/access/memberships.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { until } from '../support/until.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

/** Creates people in a new account. Each has a fresh proof. */
const newTeam = async <R extends Role>(...wanted: R[]): Promise<DashboardClient[]> => {
  const { id } = await dashboard.scene.account();
  const people: DashboardClient[] = [];
  for (const role of wanted) {
    const person = await dashboard.newPerson(role, id);
    await person.prove();
    people.push(person);
  }
  return people;
};

let invited = 0;
const newEmail = (): string => {
  invited += 1;
  return `new${invited}@example.com`;
};

const tokenOf = (link: string): string => link.split('#')[1]!;
const join = (token: string) =>
  dashboard.stranger().call('POST /invitation', { body: { token, name: 'Joan', password: testPassword } });

const isIn = async (client: DashboardClient): Promise<boolean> => (await client.call('GET /team')).status === 200;

test('an invitation is a link that makes one person with the role and e-mail it was made for', async () => {
  const [owner] = await newTeam('owner');
  const email = newEmail();
  const made = await owner!.do('POST /team/invitations', { body: { email: email.toUpperCase(), role: 'finance' } });
  expect(made).toMatchObject({ email, role: 'finance', id: expect.stringMatching(/^inv_/) });
  expect(made.link).toMatch(new RegExp(`^${dashboard.url}/dashboard/invitation#[A-Za-z0-9_-]{43}$`));
  const { invitations } = await owner!.do('GET /team');
  expect(invitations.map(each => each.id)).toEqual([made.id]);
  expect(JSON.stringify(invitations)).not.toContain(tokenOf(made.link));
  const check = { body: { token: tokenOf(made.link) } };
  expect(await dashboard.stranger().do('POST /invitation/check', check)).toEqual({
    accountName: 'Test',
    email,
    role: 'finance',
  });
  const answers = await Promise.all([join(tokenOf(made.link)), join(tokenOf(made.link))]);
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 404]);
  const { members, invitations: left } = await owner!.do('GET /team');
  expect(members.map(member => [member.email, member.role])).toContainEqual([email, 'finance']);
  expect(left).toEqual([]);
});

test('an invitation lives for seven days, can be withdrawn, and is replaced by the next for the same e-mail', async () => {
  const [owner] = await newTeam('owner');
  const invite = (email: string) => owner!.do('POST /team/invitations', { body: { email, role: 'viewer' } });
  const old = await invite(newEmail());
  const age = (seconds: number) =>
    dashboard.scene.admin.db.script(
      `update access_links set expires_at = expires_at - interval '${seconds} seconds' where id = '${old.id}'`,
    );
  const check = () => dashboard.stranger().call('POST /invitation/check', { body: { token: tokenOf(old.link) } });
  await age(7 * 86_400 - 60);
  expect((await check()).status).toBe(200);
  await age(120);
  expect((await join(tokenOf(old.link))).status).toBe(404);
  const withdrawn = await invite(newEmail());
  await owner!.do('DELETE /team/invitations/:id', { params: { id: withdrawn.id } });
  expect((await join(tokenOf(withdrawn.link))).status).toBe(404);
  const email = newEmail();
  const [first, second] = [await invite(email), await invite(email)];
  expect((await join(tokenOf(first.link))).status).toBe(404);
  expect((await join(tokenOf(second.link))).status).toBe(200);
  expect((await owner!.call('POST /team/invitations', { body: { email, role: 'viewer' } })).status).toBe(409);
});

test('a new role is in force at once, and ends the sessions of the old one', async () => {
  const [owner, member] = await newTeam('owner', 'admin');
  const changed = await owner!.do('PATCH /team/:id', { params: { id: member!.personId }, body: { role: 'viewer' } });
  expect(changed).toMatchObject({ id: member!.personId, role: 'viewer' });
  expect(await isIn(member!)).toBe(false);
  await member!.do('POST /sign-in', { body: { email: member!.email, password: testPassword } });
  const refused = await member!.call('POST /team/invitations', { body: { email: newEmail(), role: 'viewer' } });
  expect(refused.status).toBe(403);
});

test('who is removed is out, and cannot come back with what they know', async () => {
  const [owner, member] = await newTeam('owner', 'admin');
  await owner!.do('DELETE /team/:id', { params: { id: member!.personId } });
  expect(await isIn(member!)).toBe(false);
  const again = { body: { email: member!.email, password: testPassword } };
  expect((await dashboard.stranger().call('POST /sign-in', again)).status).toBe(401);
  expect((await owner!.do('GET /team')).members.map(each => each.id)).toEqual([owner!.personId]);
  // The e-mail address may be invited again.
  await owner!.do('POST /team/invitations', { body: { email: member!.email, role: 'viewer' } });
});

test('the last owner stays an owner', async () => {
  const [owner, admin] = await newTeam('owner', 'admin');
  const demote = (by: DashboardClient) =>
    by.call('PATCH /team/:id', { params: { id: owner!.personId }, body: { role: 'admin' } });
  expect((await demote(owner!)).status).toBe(409);
  expect((await owner!.call('DELETE /team/:id', { params: { id: owner!.personId } })).status).toBe(400);
  expect((await demote(admin!)).status, 'admins do not touch owners').toBe(403);
});

test('two owners cannot take the role from each other at the same time', async () => {
  const [one, two] = await newTeam('owner', 'owner');
  const demote = (by: DashboardClient, whom: DashboardClient) =>
    by.call('PATCH /team/:id', { params: { id: whom.personId }, body: { role: 'viewer' } });
  const answers = await Promise.all([demote(one!, two!), demote(two!, one!)]);
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(1);
  const { db } = dashboard.scene.admin;
  const owners = await db.query({
    name: '',
    text: `select from memberships where person_id in ('${one!.personId}', '${two!.personId}') and role = 'owner'`,
  });
  expect(owners).toHaveLength(1);
});

test('only owners make, change and remove owners', async () => {
  const [owner, admin, member] = await newTeam('owner', 'admin', 'viewer');
  const params = { id: member!.personId };
  const statuses = [
    await admin!.call('POST /team/invitations', { body: { email: newEmail(), role: 'owner' } }),
    await admin!.call('PATCH /team/:id', { params, body: { role: 'owner' } }),
    await admin!.call('DELETE /team/:id', { params: { id: owner!.personId } }),
  ].map(answer => answer.status);
  expect(statuses).toEqual([403, 403, 403]);
  const pending = await owner!.do('POST /team/invitations', { body: { email: newEmail(), role: 'owner' } });
  const withdrawn = await admin!.call('DELETE /team/invitations/:id', { params: { id: pending.id } });
  expect(withdrawn.status).toBe(403);
  expect((await dashboard.stranger().call('POST /invitation/check', { body: { token: tokenOf(pending.link) } })).status)
    .toBe(200); // biome-ignore format: one line is too long
  await owner!.do('PATCH /team/:id', { params, body: { role: 'owner' } });
});

test('whoever loses the role while they withdraw an invitation withdraws none', async () => {
  const [owner, admin] = await newTeam('owner', 'admin');
  const pending = await owner!.do('POST /team/invitations', { body: { email: newEmail(), role: 'viewer' } });
  const { db } = dashboard.scene.admin;
  const [{ accountId }] = (await db.query<{ accountId: string }>({
    name: '',
    text: `select account_id as "accountId" from memberships where person_id = '${owner!.personId}'`,
  })) as [{ accountId: string }];
  let isSettled = false;
  const withdrawing = await db.transaction(async tx => {
    await lockTeam(tx, accountId);
    await updateRole(tx, accountId, admin!.personId, 'viewer');
    await sealRegister(dashboard.scene.admin, tx, accountId);
    const answer = admin!.call('DELETE /team/invitations/:id', { params: { id: pending.id } }).finally(() => {
      isSettled = true;
    });
    const waiting = {
      name: '',
      text: `select from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
    };
    await until(
      async () => isSettled || (await db.query(waiting)).length > 0,
      isThere => isThere,
    );
    return { answer };
  });
  expect((await withdrawing.answer).status).toBe(403);
  expect((await owner!.do('GET /team')).invitations.map(each => each.id)).toEqual([pending.id]);
});

test('people and invitations of other accounts are not there', async () => {
  const [owner] = await newTeam('owner');
  const [stranger, theirs] = await newTeam('owner', 'viewer');
  const pending = await stranger!.do('POST /team/invitations', { body: { email: newEmail(), role: 'viewer' } });
  const params = { id: theirs!.personId };
  const statuses = [
    await owner!.call('PATCH /team/:id', { params, body: { role: 'admin' } }),
    await owner!.call('DELETE /team/:id', { params }),
    await owner!.call('DELETE /team/invitations/:id', { params: { id: pending.id } }),
  ].map(answer => answer.status);
  expect(statuses).toEqual([404, 404, 404]);
  expect(await isIn(theirs!)).toBe(true);
  const { members, invitations } = await owner!.do('GET /team');
  expect(members.map(member => member.id)).toEqual([owner!.personId]);
  expect(invitations).toEqual([]);
  const { data } = await owner!.do('GET /audit', { query: { limit: 200 } });
  expect(JSON.stringify(data)).not.toContain(stranger!.personId);
});

const auditOf = async (owner: DashboardClient, action: string) =>
  (await owner.do('GET /audit', { query: { action, limit: 200 } })).data.map(row => row.subject);

test.each(['removed', 'demoted'])('the invitations of whoever is %s go with them', async how => {
  const [owner, admin] = await newTeam('owner', 'admin');
  const invite = (by: DashboardClient) =>
    by.do('POST /team/invitations', { body: { email: newEmail(), role: 'admin' } });
  const [kept, gone] = [await invite(owner!), await invite(admin!)];
  const params = { id: admin!.personId };
  if (how === 'removed') await owner!.do('DELETE /team/:id', { params });
  else await owner!.do('PATCH /team/:id', { params, body: { role: 'viewer' } });
  expect((await join(tokenOf(gone.link))).status).toBe(404);
  expect(await auditOf(owner!, 'invitation.withdrawn')).toEqual([gone.id]);
  expect((await join(tokenOf(kept.link))).status).toBe(200);
});

test("an admin does not replace an owner's invitation, and what is replaced is in the audit log", async () => {
  const [owner, admin] = await newTeam('owner', 'admin');
  const email = newEmail();
  const first = await owner!.do('POST /team/invitations', { body: { email, role: 'owner' } });
  const refused = await admin!.call('POST /team/invitations', { body: { email, role: 'viewer' } });
  expect(refused.status).toBe(403);
  expect((await owner!.do('GET /team')).invitations.map(each => each.id)).toEqual([first.id]);
  const second = await owner!.do('POST /team/invitations', { body: { email, role: 'viewer' } });
  expect(await auditOf(owner!, 'invitation.withdrawn')).toEqual([first.id]);
  expect((await join(tokenOf(second.link))).status).toBe(200);
});

test('an invitation does not tell that the e-mail is of another account; whoever has it is told', async () => {
  const [owner] = await newTeam('owner');
  const [other] = await newTeam('viewer');
  const body = { email: other!.email, role: 'viewer' };
  const made = await owner!.do('POST /team/invitations', { body });
  const answer = await join(tokenOf(made.link));
  expect(answer.status).toBe(409);
  expect(answer.json.error).toMatchObject({ code: 'conflict', param: 'email' });
  const own = await owner!.call('POST /team/invitations', { body: { ...body, email: owner!.email } });
  expect(own.status).toBe(409);
});
