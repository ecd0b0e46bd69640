import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';
import { eventually } from '../support/until.ts';
import { type MailScene, startMailScene } from './mailScene.ts';
import type { ReceivedMail } from './smtpReceiver.ts';

let scene: MailScene;
let dashboard: TestDashboard;
beforeAll(async () => {
  scene = await startMailScene();
  dashboard = scene.dashboard;
});
beforeEach(() => scene.reset());

const sql: MailScene['sql'] = (text, ...values) => scene.sql(text, ...values);
/** Lines of a mail are broken at 76 characters, and = is written as =3D. */
const textOf = ({ source }: ReceivedMail): string => source.replaceAll('=\r\n', '').replaceAll('=3D', '=');
const tokenIn = (mail: ReceivedMail, page: string): string =>
  new RegExp(`/dashboard/${page}#([\\w-]+)`).exec(textOf(mail))![1]!;
const ask = (email: string) => dashboard.stranger().call('POST /recovery/request', { body: { email } });
const links = async (personId: string) =>
  (await sql('select opens_at > clock_timestamp() as waits from recovery_links where person_id = $1', personId)).map(
    ({ waits }) => waits,
  );

test('an invitation is sent to the invited person, and shown to who made it', async () => {
  const owner = await dashboard.as('owner');
  await owner.prove();
  const made = await owner.do('POST /team/invitations', { body: { email: 'grace@example.com', role: 'viewer' } });
  await scene.settled();
  const mail = scene.receiver.kept.find(({ to }) => to.includes('grace@example.com'))!;
  const token = tokenIn(mail, 'invitation');
  expect(made.link.endsWith(`#${token}`)).toBe(true);
  expect(await dashboard.stranger().do('POST /invitation/check', { body: { token } })).toMatchObject({
    role: 'viewer',
  });
  const [audited] = await sql<{ detail: string }>(
    `select string_agg(detail::text, '') as detail from audit_log where action = 'invitation.created'`,
  );
  expect(audited!.detail).not.toContain(token);
});

test('a team mails fifty invitations at once; the link of the next is made and not mailed', {
  tags: ['thorough'],
}, async () => {
  const { id } = await dashboard.scene.account();
  const owner = await dashboard.newPerson('owner', id);
  await owner.prove();
  const invite = (email: string) => owner.do('POST /team/invitations', { body: { email, role: 'viewer' } });
  for (let n = 0; n < 50; n++) expect((await invite(`heidi${n}@example.com`)).isMailed).toBe(true);
  const last = await invite('heidi-last@example.com');
  expect(last.isMailed).toBe(false);
  await scene.settled();
  expect(scene.receiver.kept.filter(({ to }) => to[0]!.startsWith('heidi'))).toHaveLength(50);
  const token = last.link.split('#')[1]!;
  expect(await dashboard.stranger().do('POST /invitation/check', { body: { token } })).toMatchObject({
    role: 'viewer',
  });
});

test('nobody mails one address without end, and a person mails no more with another account', {
  tags: ['thorough'],
}, async () => {
  const [first, second] = [await dashboard.scene.account(), await dashboard.scene.account()];
  const owner = await dashboard.newPerson('owner', first.id);
  await owner.prove();
  const other = await dashboard.newPerson('owner', second.id);
  await other.prove();
  const invite = (by: typeof owner, email: string) =>
    by.do('POST /team/invitations', { body: { email, role: 'owner' } });
  for (let n = 0; n < 5; n++) expect((await invite(owner, 'judy@example.com')).isMailed).toBe(true);
  expect((await invite(other, 'judy@example.com')).isMailed).toBe(false);

  for (let n = 0; n < 45; n++) expect((await invite(owner, `ken${n}@example.com`)).isMailed).toBe(true);
  const token = (await invite(other, owner.email)).link.split('#')[1]!;
  await owner.do('POST /invitation/sign-in', { body: { token, password: testPassword } });
  await owner.prove();
  expect((await invite(owner, 'ken-last@example.com')).isMailed).toBe(false);
  expect((await invite(other, 'ken-last@example.com')).isMailed).toBe(true);
});

test('a link that sets a new password is sent, waits for the other owners, and is announced', async () => {
  const admin = await dashboard.as('admin');
  expect((await ask(admin.email.toUpperCase())).json).toEqual({ done: true });
  await scene.settled();
  expect(await links(admin.personId)).toEqual([true]);
  const mail = scene.receiver.kept.find(
    ({ to, source }) => to.includes(admin.email) && source.includes('Set a new password'),
  )!;
  const check = { body: { token: tokenIn(mail, 'recovery') } };
  expect(await dashboard.stranger().do('POST /recovery/check', check)).toMatchObject({ email: admin.email });
  const owner = await dashboard.as('owner');
  expect((await owner.do('GET /announcements')).recoveries).toMatchObject([{ email: admin.email }]);
  const told = scene.receiver.kept.filter(({ source }) => source.includes('created a link that sets a new password'));
  expect(told.flatMap(({ to }) => to).toSorted()).toEqual([admin.email, owner.email].toSorted());
});

test('who asks again while a link is open neither replaces it nor gets another', async () => {
  const viewer = await dashboard.as('viewer');
  await ask(viewer.email);
  await scene.settled();
  const before = await sql('select token_hash, opens_at from recovery_links where person_id = $1', viewer.personId);
  scene.receiver.kept.length = 0;
  await ask(viewer.email);
  await scene.settled();
  expect(await sql('select token_hash, opens_at from recovery_links where person_id = $1', viewer.personId)).toEqual(
    before,
  );
  expect(scene.receiver.kept).toEqual([]);
});

test.each(['is parked', 'waits for another try'])('a link whose mail %s is replaced: nobody has it', async fate => {
  const person = await dashboard.newPerson('viewer');
  const mine = 'select token_hash as hash, used_at is null as open from recovery_links where person_id = $1';
  const hashes = async (isOpen: boolean) =>
    (await sql<{ hash: Buffer; open: boolean }>(mine, person.personId)).filter(({ open }) => open === isOpen);
  const left = `select id from outbox where id like 'out_recovery_%' and failures > 0
    and (parked_at is not null) = ${fate === 'is parked'}`;
  scene.receiver.mood = () => (fate === 'is parked' ? 'refuse person' : 'busy');
  await ask(person.email);
  await eventually(async () => expect(await sql(left)).toHaveLength(1));
  const [lost] = await hashes(true);
  scene.receiver.mood = () => 'accept';
  // The notices about the link, which others get.
  await sql('delete from outbox where id not like $1 returning id', 'out_recovery_%');
  await ask(person.email);
  await scene.settled();
  expect(await hashes(false)).toEqual([{ ...lost, open: false }]);
  const links = scene.receiver.kept.filter(({ source }) => source.includes('Set a new password'));
  expect(links.map(({ to }) => to)).toEqual([[person.email]]);
  const check = { body: { token: tokenIn(links[0]!, 'recovery') } };
  expect(await dashboard.stranger().do('POST /recovery/check', check)).toMatchObject({ email: person.email });
  expect(await sql('select id from outbox')).toEqual([]);
});

test('the only owner gets a link that opens at once, but not past a second factor', async () => {
  const [plain, secured] = [await dashboard.scene.account(), await dashboard.scene.account()];
  const first = await dashboard.newPerson('owner', plain.id);
  const second = await dashboard.newPerson('owner', secured.id);
  await sql(`update people set passkey_ids = array['psk_' || repeat('0', 26)] where id = $1`, second.personId);
  await ask(first.email);
  await ask(second.email);
  await scene.settled();
  expect([await links(first.personId), await links(second.personId)]).toEqual([[false], [true]]);
});

test('a second factor that was removed a moment ago makes the link of an only owner wait, too', async () => {
  const { id } = await dashboard.scene.account();
  const owner = await dashboard.newPerson('owner', id);
  await owner.prove();
  await addTotp(owner);
  await owner.do('DELETE /me/totp');
  await ask(owner.email);
  await scene.settled();
  expect(await links(owner.personId)).toEqual([true]);
  const mails = scene.receiver.kept.filter(({ to }) => to.includes(owner.email)).map(textOf);
  expect(mails.filter(text => text.includes('If you can no longer sign in as before, ')).length).toBeGreaterThan(0);
});

test('an earlier password without a second factor does not make it wait', async () => {
  const { id } = await dashboard.scene.account();
  const owner = await dashboard.newPerson('owner', id);
  await owner.prove();
  await owner.do('POST /me/password', { body: { password: 'another quiet river' } });
  await ask(owner.email);
  await scene.settled();
  expect(await links(owner.personId)).toEqual([false]);
});

test('an address without a sign-in gets the same answer and no mail', async () => {
  const answers = [await ask('nobody@example.com'), await ask((await dashboard.as('finance')).email)];
  const [unknown, known] = answers.map(({ status, text }) => ({ status, text }));
  expect(unknown).toEqual(known);
  await scene.settled();
  expect(scene.receiver.kept.flatMap(({ to }) => to)).not.toContain('nobody@example.com');
});

test('asking is limited, whether or not the address has a sign-in', async () => {
  for (let n = 0; n < 5; n++) expect((await ask('somebody@example.com')).status).toBe(200);
  const { status, json } = await ask('somebody@example.com');
  expect(status).toBe(429);
  expect(json.error?.message).toMatch(/^Too many links were asked for\. Try again in \d+ s/);
});

test('an owner sends a test message to themselves, and is told what the server said', async () => {
  const owner = await dashboard.as('owner');
  const rows = () => sql('select sequence from audit_log');
  const before = (await rows()).length;
  expect(await owner.do('POST /mail/test')).toEqual({ error: null });
  expect(scene.receiver.kept).toMatchObject([{ to: [owner.email] }]);
  scene.receiver.mood = () => 'busy';
  expect(await owner.do('POST /mail/test')).toEqual({ error: 'the mail server answered 451' });
  expect((await (await dashboard.as('admin')).call('POST /mail/test')).status).toBe(403);
  expect((await rows()).length).toBe(before);
});

test('without a mail server nothing is offered', { tags: ['thorough'] }, async () => {
  const other = await startDashboard();
  const owner = await other.as('owner');
  expect(await owner.do('GET /session')).toMatchObject({ sendsMail: false });
  expect(await other.stranger().do('GET /session')).toEqual({ state: 'signed-out' });
  expect((await owner.call('POST /mail/test')).status).toBe(409);
  expect((await other.stranger().call('POST /recovery/request', { body: { email: owner.email } })).status).toBe(409);
});
