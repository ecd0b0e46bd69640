import { beforeAll, expect, test } from 'vitest';
import type { MailResult } from '../../src/core/mailNotice.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { readSmtpServer, type SmtpServer } from '../../src/mail/smtpServer.ts';
import { type Certificate, makeCertificate } from '../webhooks/receiver.ts';
import { startReceiver } from './mailScene.ts';
import type { SmtpReceiver } from './smtpReceiver.ts';

type Name = 'right' | 'of another name' | 'expired' | 'of nobody';
let certificates: Record<Name, Certificate>;
beforeAll(async () => {
  const names = ['127.0.0.1', 'localhost'];
  certificates = {
    right: await makeCertificate(names),
    'of another name': await makeCertificate(['mail.example']),
    expired: await makeCertificate(names, true),
    'of nobody': await makeCertificate(names),
  };
});

const startSecure = (security: 'tls' | 'starttls', certificate: Name) =>
  startReceiver({ tls: security === 'tls' ? 'at once' : 'offered', ...certificates[certificate] });

/** Hands a mail in with a user and a password, as the security says. */
const hand = (
  { port }: SmtpReceiver,
  security: SmtpServer['security'],
  { host = '127.0.0.1', trusts = 'right' }: { host?: string; trusts?: Name } = {},
): Promise<MailResult> => {
  const server = { host, port, security, user: { name: 'florin', password: 'p@ss:word' } };
  const from = { name: 'Florin', address: 'florin@shop.example' };
  const send = createMailer({ server, from, ca: certificates[trusts].cert });
  return send({ to: 'ada@example.com', notice: { kind: 'test', accountName: 'Shop' } });
};

test.each([
  ['tls', '127.0.0.1'],
  ['tls', 'localhost'],
  ['starttls', '127.0.0.1'],
  ['starttls', 'localhost'],
] as const)('%s: user, password and mail go encrypted to %s', async (security, host) => {
  const receiver = await startSecure(security, 'right');
  expect(await hand(receiver, security, { host })).toBeNull();
  expect(receiver.logins).toEqual(['florin:p@ss:word']);
  expect(receiver.kept).toMatchObject([{ to: ['ada@example.com'] }]);
  const open = receiver.said.filter(({ isSecure }) => !isSecure).map(({ verb }) => verb);
  expect(open).toEqual(security === 'tls' ? [] : ['EHLO', 'STAR']);
});

test.each([
  ['tls', 'of another name'],
  ['tls', 'expired'],
  ['tls', 'of nobody'],
  ['starttls', 'of another name'],
  ['starttls', 'expired'],
  ['starttls', 'of nobody'],
] as const)('%s: a server with a certificate %s gets nothing', async (security, certificate) => {
  const receiver = await startSecure(security, certificate);
  const trusts = certificate === 'of nobody' ? 'right' : certificate;
  expect(await hand(receiver, security, { trusts })).toEqual({
    reason: expect.stringMatching(/^the mail server failed \(E[A-Z]+\)$/),
    isPermanent: false,
  });
  expect([receiver.logins, receiver.kept]).toEqual([[], []]);
});

test('a server that does not offer STARTTLS gets nothing where it is required, and beyond loopback it is', async () => {
  for (const host of ['mail.example', '192.0.2.1', '10.0.0.5', '[2001:db8::1]']) {
    expect(readSmtpServer(`smtp://florin:secret@${host}`)).toMatchObject({ security: 'starttls' });
  }
  const receiver = await startReceiver();
  expect(await hand(receiver, 'starttls')).toEqual({ reason: 'the mail server answered 502', isPermanent: false });
  expect(receiver.said.map(({ verb }) => verb).filter(verb => verb !== 'QUIT')).toEqual(['EHLO', 'STAR']);
  expect([receiver.logins, receiver.kept]).toEqual([[], []]);
});
