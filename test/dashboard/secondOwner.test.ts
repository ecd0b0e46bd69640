import { beforeAll, describe, expect, test } from 'vitest';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { removePerson } from '../../src/engine/access/removePerson.ts';
import { expectError } from '../api/paymentCalls.ts';
import { startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { auditRows } from './auditRows.ts';
import {
  approveWallet,
  changePassword,
  expectHeld,
  expectWalletHeld,
  startOwners,
  stopWallet,
  treasuries,
  waitingWallet,
} from './ownerScene.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const someOwners = (owners: number) => startOwners(dashboard, owners);

test('in a new account, the first owner stays, and removes a second one', async () => {
  const { id } = await dashboard.scene.account();
  const [first, second] = [await dashboard.newPerson('owner', id), await dashboard.newPerson('owner', id)];
  for (const person of [first, second]) await person.prove();
  const params = { id: first.personId };
  expectError(await second.call('DELETE /team/:id', { params }), 409, 'conflict');
  expectError(await second.call('PATCH /team/:id', { params, body: { role: 'viewer' } }), 409, 'conflict');
  expect((await first.call('DELETE /team/:id', { params: { id: second.personId } })).status).toBe(200);
});

describe('a second owner', () => {
  test('approves the change with a proof, is named in the log, and then nothing is held', async () => {
    const { people, accountId } = await someOwners(2);
    const [one, other] = people;
    const { id } = await waitingWallet(one!);
    expect((await one!.do('GET /announcements')).walletChanges).toMatchObject([
      { holdsOwners: true, approvals: [{ personId: one!.personId }] },
    ]);
    await other!.unprove();
    expectError(await approveWallet(other!, id), 403, 'permission_denied', 'secondFactor');
    await other!.prove();
    expect((await approveWallet(other!, id)).status).toBe(200);
    expect((await one!.do('GET /announcements')).walletChanges).toMatchObject([
      { holdsOwners: false, approvals: [{ personId: one!.personId }, { personId: other!.personId }] },
    ]);
    expect((await auditRows(dashboard.scene, accountId)).at(-1)).toMatchObject({
      action: 'wallet.change_approved',
      actor: expect.stringContaining(other!.email),
      detail: { version: 2, destination: treasuries[1], requestedBy: expect.stringContaining(one!.email) },
    });
    expectError(await approveWallet(other!, id), 409, 'conflict');
    expect((await changePassword(one!)).status).toBe(200);
    expect((await stopWallet(one!, id)).status, 'it can still be stopped').toBe(200);
    expectError(await approveWallet(other!, id), 404, 'not_found');
  });

  test('has approved that change only', async () => {
    const { people, passTime } = await someOwners(2);
    const [one, other] = people;
    const { id } = await waitingWallet(one!);
    await approveWallet(other!, id);
    await stopWallet(one!, id);
    await passTime(24);
    const next = await waitingWallet(one!, treasuries[2]);
    expect(next.hours).toBe(24);
    expectHeld(await changePassword(one!));
  });

  test('whom the thief invited 25 hours before does not count, and 8 days before still leaves a day', async () => {
    const { people, passTime, proveAll } = await someOwners(2);
    const [victim, honest] = people;
    const invited = async (email: string): Promise<string> => {
      const { link } = await victim!.do('POST /team/invitations', { body: { email, role: 'owner' } });
      return link.split('#')[1]!;
    };
    const joinBy = async (token: string) => {
      const crook = dashboard.stranger();
      return {
        crook,
        answer: await crook.call('POST /invitation', { body: { token, name: 'Joan', password: testPassword } }),
      };
    };
    const late = await invited(`late-${victim!.email}`);
    const { crook } = await joinBy(await invited(`crook-${victim!.email}`));
    await passTime(25);
    await proveAll();
    const { id, hours } = await waitingWallet(victim!);
    expect(hours).toBe(24);
    expectHeld((await joinBy(late)).answer);
    expectError(await approveWallet(crook, id), 403, 'permission_denied');
    expectHeld(await changePassword(victim!));
    expectHeld(await changePassword(crook));
    expectHeld(await crook.call('DELETE /team/:id', { params: { id: honest!.personId } }));
    await stopWallet(honest!, id);

    await passTime(24 * 7);
    await victim!.prove();
    const { id: next } = await waitingWallet(victim!);
    await proveAll();
    expect((await approveWallet(crook, next)).status).toBe(200);
    expect((await honest!.do('GET /announcements')).walletChanges).toHaveLength(1);
    expect((await stopWallet(honest!, next)).status).toBe(200);
  });

  test('who was removed, or is an owner no more, approves nothing', async () => {
    const { people, passTime } = await someOwners(3);
    const [one, gone, demoted] = people;
    await one!.do('DELETE /team/:id', { params: { id: gone!.personId } });
    await one!.do('PATCH /team/:id', { params: { id: demoted!.personId }, body: { role: 'admin' } });
    await demoted!.do('POST /sign-in', { body: { email: demoted!.email, password: testPassword } });
    await passTime(24);
    const { id } = await waitingWallet(one!);
    expect((await approveWallet(gone!, id)).status).toBe(401);
    expectError(await approveWallet(demoted!, id), 403, 'permission_denied');
    expectHeld(await changePassword(one!));
  });

  test('who was made an owner again counts anew from then on', async () => {
    const { people, passTime, proveAll } = await someOwners(2);
    const [one, other] = people;
    const role = (role: 'admin' | 'owner') =>
      one!.do('PATCH /team/:id', { params: { id: other!.personId }, body: { role } });
    await role('admin');
    await role('owner');
    await other!.do('POST /sign-in', { body: { email: other!.email, password: testPassword } });
    await passTime(24 * 7 - 1);
    await proveAll();
    const { id } = await waitingWallet(one!);
    expectError(await approveWallet(other!, id), 403, 'permission_denied');
  });
});

describe('the operator', () => {
  test('makes a link by which the only owner comes back while a wallet change waits', async () => {
    const { people } = await someOwners(1);
    const owner = people[0]!;
    const { id } = await waitingWallet(owner);
    const { token } = await createRecoveryLink(dashboard.scene.admin, owner.email);
    const back = dashboard.stranger();
    const body = { token, password: 'a river that came back' };
    const byMail = (yes: boolean) => dashboard.scene.admin.db.script(`update recovery_links set by_mail = ${yes}`);
    await byMail(true);
    expectHeld(await back.call('POST /recovery', { body }));
    await byMail(false);
    await back.do('POST /recovery', { body });
    expect((await owner.call('GET /team')).status).toBe(401);
    expect((await stopWallet(back, id)).status).toBe(200);
    const preview = { network: 'base', treasury: treasuries[2] };
    const held = await back.call('POST /wallets/preview', { environment: 'production', body: preview });
    expectWalletHeld(held);
    expect(held.json.error!.message, 'a link in wrong hands is a change of the sign-in').toContain(
      'how an owner signs in',
    );
  });

  test('removes an owner while a wallet change waits', async () => {
    const { people, accountId } = await someOwners(2);
    await waitingWallet(people[0]!);
    const options = { accountId, keys: undefined, evenLastOwner: false };
    await removePerson(dashboard.scene.admin, people[0]!.email, options);
    expect((await people[0]!.call('GET /team')).status).toBe(401);
    expect((await auditRows(dashboard.scene, accountId)).at(-1)).toMatchObject({ action: 'person.removed' });
  });
});
