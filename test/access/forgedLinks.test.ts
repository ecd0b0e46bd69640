import { beforeAll, describe, expect, test } from 'vitest';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { findOpenRecoveryHash } from '../../src/storage/access/recoveryLinks.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import type { TestFlorin } from '../support/florin.ts';

let dashboard: TestDashboard;
let scene: TestFlorin;
beforeAll(async () => {
  dashboard = await startDashboard();
  scene = dashboard.scene;
});

describe('a link', () => {
  test('that somebody changed or wrote makes nobody a member', async () => {
    const owner = await dashboard.newPerson('owner');
    await owner.prove();
    const body = { email: 'new@shop.example', role: 'viewer' } as const;
    const { link, id } = await owner.do('POST /team/invitations', { body });
    const token = link.split('#')[1]!;
    const check = async () => (await dashboard.stranger().call('POST /invitation/check', { body: { token } })).status;
    expect(await check()).toBe(200);
    await scene.tamper(`update access_links set role = 'owner' where id = '${id}'`);
    expect(await check()).toBe(404);
    const join = { token, name: 'New', password: testPassword };
    expect((await dashboard.stranger().call('POST /invitation', { body: join })).status).toBe(404);
    expect((await owner.do('GET /team')).invitations.filter(each => each.id === id)).toEqual([]);
  });

  test.each(['used', 'withdrawn'])('that was %s makes nobody a member when its row is put back', async how => {
    const { id: accountId } = await scene.account();
    const [owner, guest] = [await dashboard.newPerson('owner', accountId), await dashboard.newPerson('viewer')];
    await owner.prove();
    const body = { email: guest.email, role: 'admin' } as const;
    const { link, id } = await owner.do('POST /team/invitations', { body });
    await scene.tamper(`create table kept as select * from access_links where id = '${id}'`);
    const join = async () => {
      const given = { token: link.split('#')[1]!, password: testPassword };
      return (await dashboard.stranger().call('POST /invitation/sign-in', { body: given })).status;
    };
    if (how === 'used') {
      expect(await join()).toBe(200);
      await owner.do('DELETE /team/:id', { params: { id: guest.personId } });
    } else await owner.do('DELETE /team/invitations/:id', { params: { id } });
    await scene.tamper(`delete from access_links where id = '${id}'; insert into access_links select * from kept;
      drop table kept`);
    expect(await join()).toBe(404);
    expect((await owner.do('GET /team')).members.map(({ email }) => email)).toEqual([owner.email]);
  });

  test('for a new password is not opened earlier, and not for somebody else', async () => {
    const { id: accountId } = await scene.account();
    const people = [await dashboard.newPerson('owner', accountId), await dashboard.newPerson('owner', accountId)];
    for (const change of [
      `opens_at = now()`,
      `person_id = '${people[1]!.personId}', opens_at = now()`,
      `token_hash = token_hash, by_mail = not by_mail, opens_at = now()`,
    ]) {
      const { token, hasToWait } = await createRecoveryLink(scene.admin, people[0]!.email);
      expect(hasToWait).toBe(true);
      await scene.tamper(`update recovery_links set ${change} where used_at is null`);
      const body = { token, password: 'a new quiet river' };
      expect((await dashboard.stranger().call('POST /recovery', { body })).status, change).toBe(404);
      await scene.tamper('delete from recovery_links where used_at is null');
    }
  });
});

describe('a link for a new password', () => {
  const password = 'a new quiet river';
  const use = async (token: string) =>
    (await dashboard.stranger().call('POST /recovery', { body: { token, password } })).status;
  /** What ends a link, as the person or the operator. */
  const endings: Record<string, (person: DashboardClient, token: string) => Promise<unknown>> = {
    used: async (_, token) => expect(await use(token)).toBe(200),
    replaced: person => createRecoveryLink(scene.admin, person.email),
    async stopped(person) {
      await person.prove();
      await person.do('POST /me/password', { body: { password: 'one more quiet river' } });
    },
  };
  test.each(Object.keys(endings))('that was %s opens nothing when its row is put back', async how => {
    const { id } = await scene.account();
    const person = await dashboard.newPerson('owner', id);
    const { token } = await createRecoveryLink(scene.admin, person.email);
    const mine = `where person_id = '${person.personId}'`;
    await scene.tamper(`create table kept as select * from recovery_links ${mine}`);
    await endings[how]!(person, token);
    await scene.tamper(`update recovery_links t set used_at = null, row_seal = k.row_seal from kept k
      where t.token_hash = k.token_hash; drop table kept`);
    expect((await dashboard.stranger().call('POST /recovery/check', { body: { token } })).status).toBe(404);
    expect(await use(token)).toBe(404);
  });

  test('that was put back is not announced, and does not keep the person from getting another', async () => {
    const { id } = await scene.account();
    const person = await dashboard.newPerson('owner', id);
    const open = async () => (await person.do('GET /announcements')).recoveries;
    await createRecoveryLink(scene.admin, person.email);
    expect(await open()).toHaveLength(1);
    await scene.tamper(`create table kept as select * from recovery_links where person_id = '${person.personId}'`);
    await endings.stopped!(person, '');
    await scene.tamper(`update recovery_links t set used_at = null, row_seal = k.row_seal from kept k
      where t.token_hash = k.token_hash; drop table kept`);
    expect(await open()).toEqual([]);
    expect(await findOpenRecoveryHash(scene.admin.db, person.personId)).toBeNull();
    expect(await use((await createRecoveryLink(scene.admin, person.email)).token)).toBe(200);
  });
});
