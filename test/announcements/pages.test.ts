import { beforeAll, expect, test } from 'vitest';
import type { AuditAction } from '../../src/core/auditActions.ts';
import type { Environment } from '../../src/core/environment.ts';
import { announceEffects } from '../../src/engine/wallets/announceEffects.ts';
import { auditRows } from '../dashboard/auditRows.ts';
import { otherTreasury, startWalletScene, treasury } from '../dashboard/walletScene.ts';
import { eventually } from '../support/until.ts';
import { performed } from './performed.ts';

let wallets: Awaited<ReturnType<typeof startWalletScene>>;
beforeAll(async () => {
  wallets = await startWalletScene();
  // Everybody joined long ago.
  await wallets.dashboard.as('viewer');
  await wallets.scene.admin.db.script(`update memberships set created_at = created_at - interval '1 hour'`);
});

const acts = async () => (await (await wallets.dashboard.as('viewer')).do('GET /announcements')).acts;
const act = (action: AuditAction, environment: Environment | null, detail: Record<string, unknown> = {}) =>
  performed(wallets.scene.admin, wallets.accountId, { action, environment, detail });

test('a change that has come into force is announced exactly once, however many look', async () => {
  await wallets.owner.prove();
  await wallets.request({ treasury });
  await wallets.owner.prove();
  const asked = await wallets.request({ treasury: otherTreasury });
  expect(asked.status, asked.text).toBe(200);
  const { admin } = wallets.scene;
  await announceEffects(admin);
  const inForce = async () =>
    (await auditRows(wallets.scene, wallets.accountId)).filter(({ action }) => action === 'wallet.change_in_force');
  expect(await inForce()).toEqual([]);

  await wallets.bringForward();
  await Promise.all([announceEffects(admin), announceEffects(admin), announceEffects(admin)]);
  await announceEffects(admin);
  expect(await inForce()).toEqual([
    {
      action: 'wallet.change_in_force',
      subject: 'ethereum',
      environment: 'production',
      actor: 'Florin',
      detail: { kind: 'forwarder', destination: otherTreasury, version: 2 },
    },
  ]);
  expect((await acts()).map(({ action }) => action)).toEqual([
    'wallet.change_in_force',
    'wallet.change_requested',
    'wallet.set',
    'key.created',
  ]);
});

test('a change that was stopped never comes into force', async () => {
  await wallets.owner.prove();
  const { json } = await wallets.request({ treasury });
  await wallets.owner.do('POST /wallet-changes/:id/stop', {
    environment: 'production',
    params: { id: json.pending!.id },
  });
  await wallets.bringForward();
  await announceEffects(wallets.scene.admin);
  expect((await acts())[0]).toMatchObject({ action: 'wallet.change_stopped', subject: 'ethereum' });
});

test('every page has the acts of the last days, without the sandbox and without addresses', async () => {
  const before = (await acts()).length;
  await act('secret.revealed', 'sandbox');
  await act('person.signed_in', 'production');
  await act('secret.revealed', 'production');
  const [latest, ...others] = await acts();
  expect(latest).toMatchObject({ action: 'secret.revealed', environment: 'production', address: null });
  expect(others).toHaveLength(before);
  expect(latest!.actor).toEqual({ kind: 'operator', id: null, name: 'Command line' });
});

test('a new member is not told of what was before them, and nobody of another account', async () => {
  const late = await wallets.dashboard.newPerson('admin');
  expect((await late.do('GET /announcements')).acts).toEqual([]);
  const other = await wallets.scene.account();
  const stranger = await wallets.dashboard.newPerson('owner', other.id);
  await wallets.scene.admin.db.script(
    `update memberships set created_at = created_at - interval '1 hour' where account_id = '${other.id}'`,
  );
  await act('secret.revealed', 'production');
  const subjects = (await stranger.do('GET /announcements')).acts.map(({ subject }) => subject);
  expect(subjects).toEqual([other.keyIds.production]);
});

test('many acts of one kind, or acts that are not announced, hide no other', async () => {
  await act('webhook.deleted', 'production');
  const of = async (action: string) => (await acts()).filter(each => each.action === action).length;
  for (let done = 0; done < 30; done++) {
    await act('person.role_changed', null, { from: 'viewer', to: 'support' });
    await act('secret.revealed', 'production');
  }
  expect(await of('webhook.deleted')).toBe(1);
  expect(await of('secret.revealed')).toBe(5);
  expect(await of('person.role_changed')).toBe(0);
  await act('person.role_changed', null, { from: 'viewer', to: 'owner' });
  expect(await of('person.role_changed')).toBe(1);
});

test('old acts are shown no more', async () => {
  await eventually(async () => expect(await acts()).not.toEqual([]));
  const { db } = wallets.scene.admin;
  await db.script(`alter table audit_log disable trigger audit_log_frozen;
    update audit_log set at = at - interval '7 days';
    alter table audit_log enable trigger audit_log_frozen`);
  expect(await acts()).toEqual([]);
});
