import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { performed } from '../announcements/performed.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { eventually } from '../support/until.ts';
import { type SmtpReceiver, startSmtpReceiver } from './smtpReceiver.ts';

const lines: string[] = [];
const write: Log['warn'] = (fields, message) => void lines.push(JSON.stringify({ ...fields, message }));
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
  dashboard = await startDashboard({ env, log: { debug: write, info: write, warn: write, error: write } });
  for (const role of ['owner', 'admin', 'developer', 'viewer'] as const) await dashboard.as(role);
});
beforeEach(async () => {
  await eventually(async () => expect(await waiting()).toEqual([]));
  receiver.kept.length = 0;
  receiver.mood = () => 'accept';
});

const sql = <T extends Record<string, unknown>>(text: string): Promise<T[]> =>
  dashboard.scene.admin.db.query<T>({ name: '', text }, []);
const waiting = () => sql('select id from outbox where parked_at is null');
const emailOf = async (role: 'owner' | 'admin' | 'developer') => (await dashboard.as(role)).email;
const sentTo = () => receiver.kept.flatMap(({ to }) => to).toSorted();
const act = (action: 'secret.revealed', environment: 'sandbox' | 'production') =>
  performed(dashboard.scene.admin, dashboard.accountId, { action, environment });

test('owners and admins are told of what happens in production, and nobody of the sandbox', async () => {
  await act('secret.revealed', 'sandbox');
  await act('secret.revealed', 'production');
  const everybody = [await emailOf('admin'), await emailOf('owner')].toSorted();
  await eventually(async () => expect(await waiting()).toEqual([]));
  expect(sentTo()).toEqual(everybody);
  expect(receiver.kept[0]!.source).toContain('Command line revealed a signing secret');
});

test('the person alone is told of a new password, once, however many accounts they have', async () => {
  const other = await dashboard.scene.account();
  const developer = await dashboard.as('developer');
  await dashboard.scene.admin.db.script(
    `insert into memberships (account_id, person_id, role) values ('${other.id}', '${developer.personId}', 'owner')`,
  );
  await eventually(async () => expect(await waiting()).toEqual([]));
  receiver.kept.length = 0;
  await developer.prove();
  await developer.do('POST /me/password', { body: { password: 'a slower river at noon' } });
  await eventually(() => expect(sentTo()).toEqual([developer.email]));
  await eventually(async () => expect(await waiting()).toEqual([]));
  expect(sentTo()).toEqual([developer.email]);
  expect(receiver.kept[0]!.source).toContain('changed the password');
});

test('a server that is busy is asked again; one that refuses the person is not', async () => {
  receiver.mood = () => 'busy';
  await act('secret.revealed', 'production');
  await eventually(async () => expect(await sql('select id from outbox where failures = 1')).toHaveLength(2));
  receiver.mood = () => 'refuse person';
  await dashboard.scene.admin.db.script('update outbox set next_attempt_at = clock_timestamp()');
  const parked = () => sql('select kind, parked_reason from outbox where parked_at is not null');
  await eventually(async () => expect(await parked()).toHaveLength(2));
  expect(await parked()).toEqual(Array(2).fill({ kind: 'mail', parked_reason: 'the mail server answered 550' }));
  expect(receiver.kept).toEqual([]);
  expect(lines.filter(line => line.includes('something was not sent'))).toHaveLength(2);
});

test('no address is in the log or readable in the database', async () => {
  receiver.mood = () => 'busy';
  await act('secret.revealed', 'production');
  await eventually(async () => expect(await sql('select id from outbox where failures > 0')).not.toEqual([]));
  const contents = await sql<{ content: Buffer }>('select content from outbox');
  for (const { content } of contents) expect(content.toString('latin1')).not.toContain('example');
  expect(lines.join('\n')).not.toMatch(/@example\.com|@shop\.example/);
  await dashboard.scene.admin.db.script('delete from outbox');
});
