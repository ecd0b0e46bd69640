import { beforeAll, beforeEach, expect, test } from 'vitest';
import { purgeOutgoing } from '../../src/storage/outbox.ts';
import { performed } from '../announcements/performed.ts';
import type { TestDashboard } from '../support/dashboard.ts';
import { eventually } from '../support/until.ts';
import { type MailScene, startMailScene } from './mailScene.ts';

let scene: MailScene;
let dashboard: TestDashboard;
beforeAll(async () => {
  scene = await startMailScene();
  dashboard = scene.dashboard;
  for (const role of ['owner', 'admin', 'developer', 'viewer'] as const) await dashboard.as(role);
});
beforeEach(() => scene.reset());

const sql: MailScene['sql'] = (text, ...values) => scene.sql(text, ...values);
const emailOf = async (role: 'owner' | 'admin' | 'developer') => (await dashboard.as(role)).email;
const sentTo = () => scene.receiver.kept.flatMap(({ to }) => to).toSorted();
const act = (action: 'secret.revealed', environment: 'sandbox' | 'production') =>
  performed(dashboard.scene.admin, dashboard.accountId, { action, environment });

test('owners and admins are told of what happens in production, and nobody of the sandbox', async () => {
  await act('secret.revealed', 'sandbox');
  await act('secret.revealed', 'production');
  const everybody = [await emailOf('admin'), await emailOf('owner')].toSorted();
  await scene.settled();
  expect(sentTo()).toEqual(everybody);
  expect(scene.receiver.kept[0]!.source).toContain('Command line revealed a signing secret');
});

test('the person alone is told of a new password, once, however many accounts they have', async () => {
  const other = await dashboard.scene.account();
  const developer = await dashboard.as('developer');
  await dashboard.scene.admin.db.script(
    `insert into memberships (account_id, person_id, role) values ('${other.id}', '${developer.personId}', 'owner')`,
  );
  await scene.settled();
  scene.receiver.kept.length = 0;
  await developer.prove();
  await developer.do('POST /me/password', { body: { password: 'a slower river at noon' } });
  await eventually(() => expect(sentTo()).toEqual([developer.email]));
  await scene.settled();
  expect(sentTo()).toEqual([developer.email]);
  expect(scene.receiver.kept[0]!.source).toContain('changed the password');
});

test('changes of webhooks are mailed ten times, and then one in six minutes, and other notices always', async () => {
  const { accountId } = dashboard;
  const { admin } = dashboard.scene;
  const change = (action: 'webhook.changed' | 'wallet.set') =>
    performed(admin, accountId, { action, environment: 'production' });
  const managers = [await emailOf('admin'), await emailOf('owner')];
  const mailed = async (): Promise<number> => {
    await scene.settled();
    return scene.receiver.kept.length / managers.length;
  };
  for (let n = 0; n < 12; n++) await change('webhook.changed');
  expect(await mailed()).toBe(10);
  const told = `select id from events where type = 'account.security' and body::text like '%webhook.changed%'`;
  expect(await sql(told)).toHaveLength(12);
  await change('wallet.set');
  expect(await mailed()).toBe(11);
  await admin.db.script(`update guess_budgets set counted_at = counted_at - interval '6 minutes'`);
  await change('webhook.changed');
  await change('webhook.changed');
  expect(await mailed()).toBe(12);
  const other = await dashboard.scene.account();
  await dashboard.newPerson('owner', other.id);
  await performed(admin, other.id, { action: 'webhook.changed', environment: 'production' });
  await scene.settled();
  expect(scene.receiver.kept).toHaveLength(12 * managers.length + 1);
});

test('a server that is busy is asked again; one that refuses the person is not', async () => {
  scene.receiver.mood = () => 'busy';
  await act('secret.revealed', 'production');
  await eventually(async () => expect(await sql('select id from outbox where failures = 1')).toHaveLength(2));
  scene.receiver.mood = () => 'refuse person';
  await dashboard.scene.admin.db.script('update outbox set next_attempt_at = clock_timestamp()');
  const parked = () => sql('select kind, parked_reason from outbox where parked_at is not null');
  await eventually(async () => expect(await parked()).toHaveLength(2));
  expect(await parked()).toEqual(Array(2).fill({ kind: 'minor_mail', parked_reason: 'the mail server answered 550' }));
  expect(scene.receiver.kept).toEqual([]);
  expect(scene.lines.filter(line => line.includes('something was not sent'))).toHaveLength(2);
});

test.each(['never tried', 'tried once'])(
  'a notice that nobody tried to send for a day is dropped, and logged (%s)',
  async tried => {
    const failures = tried === 'tried once' ? 1 : 0;
    scene.receiver.mood = () => 'busy';
    await act('secret.revealed', 'production');
    await eventually(async () => expect(await sql('select id from outbox where failures = 1')).toHaveLength(2));
    // Neither is tried again before both are as old as they shall be.
    const later = `claim = claim + 1, next_attempt_at = clock_timestamp() + interval '1 hour'`;
    await dashboard.scene.admin.db.script(`update outbox set ${later} where parked_at is null`);
    scene.receiver.mood = () => 'accept';
    const [old, young] = (await sql<{ id: string }>('select id from outbox where parked_at is null order by id')).map(
      ({ id }) => id,
    );
    const dueFor = (id: string, hours: number) =>
      `update outbox set failures = ${failures}, created_at = clock_timestamp() - interval '3 days',
      next_attempt_at = clock_timestamp() - interval '${hours} hours' where id = '${id}'`;
    scene.lines.length = 0;
    await dashboard.scene.admin.db.script(`${dueFor(old!, 25)}; ${dueFor(young!, 23)}`);
    await scene.settled();
    expect(scene.receiver.kept).toHaveLength(1);
    const dropped = scene.lines.filter(line => line.includes('a mail waited for over a day and is not sent'));
    expect(dropped).toHaveLength(1);
    expect(dropped[0]).toContain(old);
  },
);

test('an invitation that waited for days is sent while its link works', async () => {
  const owner = await dashboard.as('owner');
  await owner.prove();
  await dashboard.scene.admin.db.script(`
    create function wait_for_days() returns trigger language plpgsql as $$
      begin new.next_attempt_at := clock_timestamp() - interval '3 days'; return new; end $$;
    create trigger wait_for_days before insert on outbox for each row execute function wait_for_days()`);
  await owner.do('POST /team/invitations', { body: { email: 'ivan@example.com', role: 'viewer' } });
  await dashboard.scene.admin.db.script('drop trigger wait_for_days on outbox; drop function wait_for_days');
  await scene.settled();
  expect(sentTo()).toEqual(['ivan@example.com']);
});

test('what no process tried to send for 7 days is deleted, also if one tried before, and what was parked for 30', async () => {
  const { db } = dashboard.scene.admin;
  // Others do not see these rows, so nobody claims them.
  const days = (id: string, waited: number, failures: number) =>
    `('${id}', 'mail', '\\x00', ${failures}, clock_timestamp() - interval '${waited} days')`;
  await expect(
    db.transaction(async tx => {
      const text = `insert into outbox (id, kind, content, failures, next_attempt_at)
        values ${days('out_a', 8, 0)}, ${days('out_b', 8, 3)}, ${days('out_c', 6, 3)},
          ${days('out_d', 31, 1)}, ${days('out_e', 29, 1)} returning id`;
      expect(await tx.query({ name: '', text }, [])).toHaveLength(5);
      const parked = `update outbox set parked_at = next_attempt_at, parked_reason = 'refused'
        where id in ('out_d', 'out_e') returning id`;
      expect(await tx.query({ name: '', text: parked }, [])).toHaveLength(2);
      expect(await purgeOutgoing(tx, 10)).toBe(3);
      const kept = `select id from outbox where id in ('out_a', 'out_b', 'out_c', 'out_d', 'out_e') order by id`;
      expect(await tx.query({ name: '', text: kept }, [])).toEqual([{ id: 'out_c' }, { id: 'out_e' }]);
      throw new Error('nothing is kept');
    }),
  ).rejects.toThrow('nothing is kept');
});

test('no address is in the log or readable in the database', async () => {
  scene.receiver.mood = () => 'busy';
  await act('secret.revealed', 'production');
  await eventually(async () => expect(await sql('select id from outbox where failures > 0')).not.toEqual([]));
  const contents = await sql<{ content: Buffer }>('select content from outbox');
  for (const { content } of contents) expect(content.toString('latin1')).not.toContain('example');
  expect(await scene.logText()).not.toMatch(/@example\.com|@shop\.example/);
  await dashboard.scene.admin.db.script('delete from outbox');
});
