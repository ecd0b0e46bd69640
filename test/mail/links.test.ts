import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { eventually } from '../support/until.ts';
import { type ReceivedMail, type SmtpReceiver, startSmtpReceiver } from './smtpReceiver.ts';

let dashboard: TestDashboard;
let receiver: SmtpReceiver;
beforeAll(async () => {
  receiver = await startSmtpReceiver();
  atEndOfFile(receiver.close);
  const env = {
    FLORIN_ROLES: 'api,watch,deliver',
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'Florin <florin@shop.example>',
  };
  dashboard = await startDashboard({ env });
});
beforeEach(async () => {
  await settled();
  receiver.kept.length = 0;
  receiver.mood = () => 'accept';
});

const sql = <T extends Record<string, unknown>>(text: string, ...values: unknown[]): Promise<T[]> =>
  dashboard.scene.admin.db.query<T>({ name: '', text }, values);
const settled = () => eventually(async () => expect(await sql('select id from outbox')).toEqual([]));
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
  await settled();
  const mail = receiver.kept.find(({ to }) => to.includes('grace@example.com'))!;
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

test('a link that sets a new password is sent, waits for the other owners, and is announced', async () => {
  const admin = await dashboard.as('admin');
  expect((await ask(admin.email.toUpperCase())).json).toEqual({ done: true });
  await settled();
  expect(await links(admin.personId)).toEqual([true]);
  const mail = receiver.kept.find(
    ({ to, source }) => to.includes(admin.email) && source.includes('Set a new password'),
  )!;
  const check = { body: { token: tokenIn(mail, 'recovery') } };
  expect(await dashboard.stranger().do('POST /recovery/check', check)).toMatchObject({ email: admin.email });
  const owner = await dashboard.as('owner');
  expect((await owner.do('GET /announcements')).recoveries).toMatchObject([{ email: admin.email }]);
  const told = receiver.kept.filter(({ source }) => source.includes('created a link that sets a new password'));
  expect(told.flatMap(({ to }) => to).toSorted()).toEqual([admin.email, owner.email].toSorted());
});

test('who asks again while a link is open neither replaces it nor gets another', async () => {
  const viewer = await dashboard.as('viewer');
  await ask(viewer.email);
  await settled();
  const before = await sql('select token_hash, opens_at from recovery_links where person_id = $1', viewer.personId);
  receiver.kept.length = 0;
  await ask(viewer.email);
  await settled();
  expect(await sql('select token_hash, opens_at from recovery_links where person_id = $1', viewer.personId)).toEqual(
    before,
  );
  expect(receiver.kept).toEqual([]);
});

test('the only owner gets a link that opens at once, but not past a second factor', async () => {
  const [plain, secured] = [await dashboard.scene.account(), await dashboard.scene.account()];
  const first = await dashboard.newPerson('owner', plain.id);
  const second = await dashboard.newPerson('owner', secured.id);
  await sql(
    `insert into passkeys (person_id, id, credential_id, public_key, counter, name, backed_up)
    values ($1, 'psk_' || repeat('0', 26), '\\x01', '\\x01', 0, 'Key', false) returning id`,
    second.personId,
  );
  await ask(first.email);
  await ask(second.email);
  await settled();
  expect([await links(first.personId), await links(second.personId)]).toEqual([[false], [true]]);
});

test('an address without a sign-in gets the same answer and no mail', async () => {
  const answers = [await ask('nobody@example.com'), await ask((await dashboard.as('finance')).email)];
  const [unknown, known] = answers.map(({ status, text }) => ({ status, text }));
  expect(unknown).toEqual(known);
  await settled();
  expect(receiver.kept.flatMap(({ to }) => to)).not.toContain('nobody@example.com');
});

test('asking is limited, whether or not the address has a sign-in', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 7; n++) statuses.push((await ask('somebody@example.com')).status);
  expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(statuses.at(-1)).toBe(429);
});

test('an owner sends a test message to themselves, and is told what the server said', async () => {
  const owner = await dashboard.as('owner');
  const rows = () => sql('select sequence from audit_log');
  const before = (await rows()).length;
  expect(await owner.do('POST /mail/test')).toEqual({ error: null });
  expect(receiver.kept).toMatchObject([{ to: [owner.email] }]);
  receiver.mood = () => 'busy';
  expect(await owner.do('POST /mail/test')).toEqual({ error: 'the mail server answered 451' });
  expect((await (await dashboard.as('admin')).call('POST /mail/test')).status).toBe(403);
  expect((await rows()).length).toBe(before);
});

test('without a mail server nothing is offered', async () => {
  const other = await startDashboard();
  const owner = await other.as('owner');
  expect(await owner.do('GET /session')).toMatchObject({ sendsMail: false });
  expect(await other.stranger().do('GET /session')).toEqual({ state: 'signed-out' });
  expect((await owner.call('POST /mail/test')).status).toBe(409);
  expect((await other.stranger().call('POST /recovery/request', { body: { email: owner.email } })).status).toBe(409);
});
