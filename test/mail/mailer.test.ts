import { expect, test } from 'vitest';
import { announcedActions } from '../../src/core/announcements.ts';
import type { MailNotice } from '../../src/core/mailNotice.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { actText, renderMail } from '../../src/mail/messages.ts';
import { isPlainAddress, readSender, readSmtpServer } from '../../src/mail/smtpServer.ts';
import { eventually } from '../support/until.ts';
import { startReceiver } from './mailScene.ts';

const from = { name: 'Florin', address: 'florin@shop.example' };
const notice: MailNotice = { kind: 'test', accountName: 'Shop' };

const startMail = async () => {
  const receiver = await startReceiver();
  const server = { host: '127.0.0.1', port: receiver.port, security: 'plain', user: null } as const;
  return { receiver, send: createMailer({ server, from }) };
};

test('a mail is handed over whole, as text and as HTML', async () => {
  const { receiver, send } = await startMail();
  expect(await send({ to: 'ada@example.com', notice })).toBeNull();
  expect(receiver.kept).toMatchObject([{ from: from.address, to: ['ada@example.com'] }]);
  const { source } = receiver.kept[0]!;
  expect(source).toContain('From: Florin <florin@shop.example>');
  expect(source).toContain('To: ada@example.com');
  expect(source).toContain('Subject: Test message for Shop');
  expect(source).toContain('Content-Type: text/plain');
  expect(source).toContain('Content-Type: text/html');
});

test.each([
  ['busy', { reason: 'the mail server answered 451', isPermanent: false }],
  ['refuse person', { reason: 'the mail server answered 550', isPermanent: true }],
  ['refuse', { reason: 'the mail server answered 554', isPermanent: true }],
  ['drop', { reason: expect.stringMatching(/^the mail server failed \(E[A-Z]+\)$/), isPermanent: false }],
  ['drop in data', { reason: expect.stringMatching(/^the mail server failed \(E[A-Z]+\)$/), isPermanent: false }],
] as const)('a server whose mood is "%s" is told apart, without the address', async (mood, expected) => {
  const { receiver, send } = await startMail();
  receiver.mood = () => mood;
  expect(await send({ to: 'ada@example.com', notice })).toEqual(expected);
  expect(receiver.kept).toEqual([]);
});

test('a server that falls silent holds up no shutdown', async () => {
  const { receiver, send } = await startMail();
  receiver.mood = () => 'silent';
  const stopping = new AbortController();
  const attempt = send({ to: 'ada@example.com', notice }, stopping.signal);
  await eventually(() => expect(receiver.said).not.toEqual([]));
  stopping.abort();
  expect(await attempt).toEqual({
    reason: expect.stringMatching(/^the mail server failed \(E[A-Z]+\)$/),
    isPermanent: false,
  });
  await eventually(() => expect(receiver.open(), 'the connection has ended').toBe(0));
});

test.each([
  'ada@example.com\r\nBcc: eve@example.com',
  'ada@example.com, eve@example.com',
  'ada@example.com>\r\nRCPT TO:<eve@example.com',
  'Ada <ada@example.com>',
  'nobody',
  '',
])('the address %j is refused', async to => {
  const { receiver, send } = await startMail();
  expect(isPlainAddress(to)).toBe(false);
  expect(await send({ to, notice })).toEqual({ reason: 'the address is malformed', isPermanent: true });
  expect(receiver.kept).toEqual([]);
});

test('a name adds no header, and no markup', async () => {
  const { receiver, send } = await startMail();
  const hostile = 'Shop\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>';
  expect(await send({ to: 'ada@example.com', notice: { kind: 'test', accountName: hostile } })).toBeNull();
  expect(receiver.kept).toMatchObject([{ to: ['ada@example.com'] }]);
  expect(receiver.kept[0]!.source.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m);
  const at = '2026-01-15T09:30:00.000Z';
  const security = { kind: 'security', accountName: hostile, environment: null, subject: null, at } as const;
  const message = renderMail({ ...security, action: 'person.removed', actorName: hostile });
  expect(message.html).not.toContain('<script>');
  expect(message.subject).not.toMatch(/[\r\n]/);
});

const invitationOf = (accountName: string, invitedBy: string) => {
  const expiresAt = '2026-01-16T09:30:00.000Z';
  const link = 'https://pay.shop.example/dashboard/invitation#x';
  const { subject, text, html } = renderMail({ kind: 'invitation', accountName, invitedBy, link, expiresAt });
  return { subject, said: text.replace(link, ''), html: html.replaceAll(link, '') };
};

test('an invitation names who sent it and the account', () => {
  const { subject, said } = invitationOf('Bäckerei Müller & Söhne 2026', "Ada O'Neil-Smith");
  expect(said).toContain("“Ada O'Neil-Smith” invited you to the account “Bäckerei Müller & Söhne 2026”.");
  expect(subject).toBe('Invitation to an account');
});

test.each([
  'https://evil.example/prize',
  'evil.example',
  'evil。example',
  'EVIL․example/x?y=z',
  'mailto:eve@evil.example',
  '<a href=//evil.example>Win</a>',
  'evil\u200b.example',
  'evil.\u00adexample',
])('a name like %j in an invitation is no link, and leads nobody elsewhere', hostile => {
  const { subject, said, html } = invitationOf(hostile, hostile);
  expect(said).not.toMatch(/evil[^\p{L}\p{N} ]+example|:\/\/|@|\/\//iu);
  expect(html).not.toMatch(/evil[^\p{L}\p{N} ]+example|<a [^>]*evil/iu);
  expect(subject).not.toContain('evil');
});

test('names in an invitation are short, and have no telephone number', () => {
  const { said } = invitationOf(`Win ${'money '.repeat(60)}`, 'Call +1 (800) 555 0100 now');
  expect(said).toContain('“Call now” invited you');
  expect(said).toMatch(/account “.{1,41}”\./);
});

test('the mail with a link says what to do if somebody else asked for it, in the order that works', () => {
  const times = { opensAt: '2026-01-15T09:30:00.000Z', expiresAt: '2026-01-16T09:30:00.000Z' };
  const { text } = renderMail({ kind: 'recovery', link: 'https://shop.example/dashboard/recovery#x', ...times });
  expect(text).toMatch(/sign in.*wallet change.*stop that first.*change your password/);
});

test('every announced act has words', () => {
  expect(Object.keys(actText).toSorted()).toEqual(announcedActions.toSorted());
});

test('the address of a server says how to speak to it', () => {
  expect(readSmtpServer('smtps://me:p%40ss@mail.example')).toEqual({
    host: 'mail.example',
    port: 465,
    security: 'tls',
    user: { name: 'me', password: 'p@ss' },
  });
  const starttls = { host: 'mail.example', port: 587, security: 'starttls', user: null };
  expect(readSmtpServer('smtp://mail.example')).toEqual(starttls);
  expect(readSmtpServer('smtp://mail.example:25?starttls=off')).toEqual({ ...starttls, port: 25, security: 'plain' });
  expect(readSmtpServer('smtp://127.0.0.1:2525')).toMatchObject({ security: 'plain', port: 2525 });
  expect(readSmtpServer('smtp://[::1]:2525')).toMatchObject({ security: 'plain', host: '::1' });
});

test.each([
  'http://mail.example',
  'smtp://',
  'smtp://mail.example/path',
  'smtp://mail.example?tls=off',
  'smtps://mail.example?starttls=off',
  'smtp://me@mail.example',
  'smtp://me:%zz@mail.example',
  'mail.example',
])('the server %s is refused, without its password', text => {
  const refusal = readSmtpServer(text);
  expect(refusal).toEqual(expect.any(String));
  expect(refusal).not.toContain('mail.example');
});

test('a sender is one address, with or without a name', () => {
  expect(readSender('florin@shop.example')).toEqual({ name: '', address: 'florin@shop.example' });
  expect(readSender('The Shop <florin@shop.example>')).toEqual({ name: 'The Shop', address: 'florin@shop.example' });
  for (const bad of ['', 'Shop', 'a@b.example, c@d.example', 'X\n <a@b.example>', '<a@b.example> x']) {
    expect(readSender(bad), bad).toBeNull();
  }
});
