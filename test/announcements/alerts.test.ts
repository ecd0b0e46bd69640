import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { answering, type Received, startReceiver, verify } from '../deliveries/receiver.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';
import { performed } from './performed.ts';

const masterKey = randomBytes(32).toString('hex');
let dashboard: TestDashboard;
beforeEach(async () => {
  dashboard = await startDashboard({ env: { FLORIN_MASTER_KEY: masterKey } });
  await dashboard.scene.admin.db.script('delete from outbox');
});

/** Another process, which delivers. The one of the scene only serves. */
const startDelivering = (env: Record<string, string>, log?: Log) =>
  startSecondFlorin(
    dashboard.scene.config.database!.url,
    {
      FLORIN_ROLES: 'deliver',
      FLORIN_MASTER_KEY: masterKey,
      FLORIN_PUBLIC_URL: dashboard.scene.florin.urls.production,
      FLORIN_SANDBOX_PUBLIC_URL: dashboard.scene.florin.urls.sandbox,
      ...env,
    },
    {},
    log,
  );
const rows = () =>
  dashboard.scene.admin.db.query<{ failures: number }>(
    { name: '', text: `select failures from outbox where kind = 'alert'` },
    [],
  );
const makeDue = () => dashboard.scene.admin.db.script('update outbox set next_attempt_at = clock_timestamp()');
const lockSelf = () =>
  performed(dashboard.scene.admin, dashboard.accountId, { action: 'person.totp_removed', environment: null });
const endOf = async (accountId: string) => {
  const text = `select sequence::text, encode(hash, 'hex') as hash from audit_heads where account_id = $1`;
  return (await dashboard.scene.admin.db.query({ name: '', text }, [accountId]))[0];
};
const contentOf = ({ body }: Received) => JSON.parse(body.toString('utf8'));

test('the operator is told of every account, and again until the address accepts, also after a restart', async () => {
  const receiver = await startReceiver(answering(500));
  await lockSelf();
  const other = await dashboard.scene.account({ name: 'Other' });
  const first = await startDelivering({ FLORIN_ALERT_URL: receiver.url });
  await eventually(async () => expect((await rows()).map(({ failures }) => failures)).toEqual([1, 1]));
  await first.stop();
  const failed = receiver.received.map(contentOf);

  receiver.answer = answering(204);
  receiver.received.length = 0;
  await makeDue();
  await startDelivering({ FLORIN_ALERT_URL: receiver.url });
  await eventually(async () => expect(await rows()).toEqual([]));
  const secret = dashboard.scene.admin.vault.alertSecret();
  for (const each of receiver.received) expect(verify(secret, each)).toEqual(contentOf(each));
  const told = receiver.received.map(contentOf);
  expect(new Set(told.map(({ id }) => id))).toEqual(new Set(failed.map(({ id }) => id)));
  const at = expect.any(String);
  const head = { id: expect.stringMatching(/^evt_/), type: 'account.security', timestamp: at, apiVersion: 'v1' };
  const actor = { kind: 'operator', id: null };
  expect(told.toSorted((a, b) => (a.data.action < b.data.action ? 1 : -1))).toEqual([
    {
      ...head,
      environment: null,
      accountId: dashboard.accountId,
      auditLog: await endOf(dashboard.accountId),
      data: { action: 'person.totp_removed', actor, subject: null, at },
    },
    {
      ...head,
      environment: 'production',
      accountId: other.id,
      auditLog: { sequence: expect.stringMatching(/^[1-9]\d*$/), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      data: { action: 'key.created', actor, subject: other.keyIds.production, at },
    },
  ]);
});

test('a redirect is not followed', async () => {
  const elsewhere = await startReceiver();
  const receiver = await startReceiver(answering(307, { location: elsewhere.url }));
  await lockSelf();
  await startDelivering({ FLORIN_ALERT_URL: receiver.url });
  await eventually(async () => expect((await rows()).map(({ failures }) => failures)).toEqual([1]));
  expect(receiver.received).toHaveLength(1);
  expect(elsewhere.received).toEqual([]);
});

test('without an address the log is told, once and without an e-mail address', async () => {
  const lines: object[] = [];
  const nothing = (): void => {};
  const warn: Log['warn'] = (fields, message) => void lines.push({ ...fields, message });
  await dashboard.as('admin');
  const owner = await dashboard.as('owner');
  await owner.prove();
  await owner.do('POST /settings/callback-secret/reveal', { environment: 'production' });
  await startDelivering({}, { debug: nothing, info: nothing, warn, error: warn });
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(lines).toEqual([
    {
      eventId: expect.stringMatching(/^evt_/),
      accountId: dashboard.accountId,
      environment: 'production',
      action: 'secret.revealed',
      actorKind: 'person',
      actorId: owner.personId,
      subject: 'callbackUrl',
      at: expect.any(String),
      auditLog: await endOf(dashboard.accountId),
      message: 'a security event',
    },
  ]);
});

test('what waits is not readable in the database', async () => {
  await lockSelf();
  const [row] = await dashboard.scene.admin.db.query<{ content: Buffer }>(
    { name: '', text: 'select content from outbox' },
    [],
  );
  expect(row!.content.toString('latin1')).not.toMatch(/totp|account/);
});
