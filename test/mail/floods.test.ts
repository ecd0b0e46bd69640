// @module-tag thorough
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { AuditAction } from '../../src/core/auditActions.ts';
import { performed } from '../announcements/performed.ts';
import { expectError } from '../api/paymentCalls.ts';
import type { TestDashboard } from '../support/dashboard.ts';
import { eventually } from '../support/until.ts';
import { type MailScene, startMailScene } from './mailScene.ts';

let scene: MailScene;
let dashboard: TestDashboard;
beforeAll(async () => {
  scene = await startMailScene();
  dashboard = scene.dashboard;
});
beforeEach(() => scene.reset());

/** An account with one owner, so that each act makes one mail. */
const newShop = async (): Promise<string> => {
  const { id } = await dashboard.scene.account();
  await dashboard.newPerson('owner', id);
  await scene.settled();
  scene.receiver.kept.length = 0;
  return id;
};
const act = async (accountId: string, action: AuditAction, times = 1): Promise<void> => {
  for (let n = 0; n < times; n++)
    await performed(dashboard.scene.admin, accountId, { action, environment: 'production' });
};
const sentWith = (words: string): number => scene.receiver.kept.filter(({ source }) => source.includes(words)).length;

test.each(['key.created', 'secret.revealed'] as const)(
  '%s is mailed twenty times, and a wallet still',
  async action => {
    const shop = await newShop();
    await act(shop, action, 22);
    await act(shop, 'wallet.set');
    await scene.settled();
    expect([scene.receiver.kept.length, sentWith('set a wallet')]).toEqual([20 + 1, 1]);
  },
);

test('all mails about wallets are sent; those after thirty wait behind others', async () => {
  const shop = await newShop();
  scene.receiver.mood = () => 'silent';
  await act(shop, 'wallet.set', 33);
  const kinds = await scene.sql<{ kind: string; n: number }>(
    `select kind, count(*)::int as n from outbox where kind like '%mail' group by 1 order by 1`,
  );
  expect(kinds).toEqual([
    { kind: 'mail', n: 30 },
    { kind: 'minor_mail', n: 3 },
  ]);
  scene.receiver.mood = () => 'accept';
  scene.receiver.hangUp();
  await dashboard.scene.admin.db.script('update outbox set next_attempt_at = clock_timestamp()');
  await eventually(() => expect(sentWith('set a wallet')).toBe(33));
});

test('what is mailed to nobody takes no place in the queue of others', async () => {
  const { id } = await dashboard.scene.account();
  await scene.settled();
  scene.receiver.kept.length = 0;
  // Nobody can be told of these, as of the changes of a person whose mails come in the name of another account.
  await act(id, 'person.passkey_added', 33);
  await dashboard.newPerson('owner', id);
  scene.receiver.mood = () => 'silent';
  await act(id, 'wallet.set');
  expect(await scene.sql(`select kind from outbox where kind like '%mail'`)).toEqual([{ kind: 'mail' }]);
  scene.receiver.mood = () => 'accept';
  scene.receiver.hangUp();
  await dashboard.scene.admin.db.script('delete from outbox');
});

test('a mail about a wallet does not wait for others at a server that hangs', async () => {
  const shop = await newShop();
  scene.receiver.mood = () => 'silent';
  await act(shop, 'secret.revealed', 15);
  await eventually(() => expect(scene.receiver.open()).toBe(10));
  scene.receiver.mood = () => 'accept';
  await act(shop, 'wallet.set');
  await eventually(() => expect(scene.receiver.kept).toHaveLength(1));
  expect(sentWith('set a wallet'), 'it came first').toBe(1);
  scene.receiver.hangUp();
  await dashboard.scene.admin.db.script('delete from outbox');
});

test('a notice about a wallet is sent however long nobody tried to', async () => {
  const shop = await newShop();
  await dashboard.scene.admin.db.script(`
    create function wait_for_days() returns trigger language plpgsql as $$
      begin new.next_attempt_at := clock_timestamp() - interval '3 days'; return new; end $$;
    create trigger wait_for_days before insert on outbox for each row execute function wait_for_days()`);
  await act(shop, 'wallet.set');
  await act(shop, 'secret.revealed');
  await dashboard.scene.admin.db.script('drop trigger wait_for_days on outbox; drop function wait_for_days');
  await scene.settled();
  expect([sentWith('set a wallet'), sentWith('revealed')]).toEqual([1, 0]);
});

test('a person sends five test messages at once, and is then told when to send the next', async () => {
  const owner = await dashboard.newPerson('owner');
  for (let n = 0; n < 5; n++) expect(await owner.do('POST /mail/test')).toEqual({ error: null });
  const refused = await owner.call('POST /mail/test');
  expectError(refused, 429, 'rate_limit_exceeded');
  expect(refused.headers['retry-after']).toBe('360');
  expect(await (await dashboard.as('owner')).do('POST /mail/test'), 'somebody else can').toEqual({ error: null });
});
