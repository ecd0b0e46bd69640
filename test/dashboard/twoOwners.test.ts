import { beforeAll, describe, expect, test } from 'vitest';
import { expectError } from '../api/paymentCalls.ts';
import type { createAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { auditRows } from './auditRows.ts';
import {
  approveWallet,
  askWallet,
  changePassword,
  expectHeld,
  expectWalletHeld,
  startFullAccount,
  startOwners,
  stopWallet,
  takeovers,
  treasuries,
  waitingWallet,
} from './ownerScene.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const someOwners = (owners: number) => startOwners(dashboard, owners);
/** Each of them that was not refused. */
const notRefused = async (ways: ReturnType<typeof takeovers>): Promise<string[]> => {
  const done: string[] = [];
  for (const [what, attempt] of Object.entries(ways)) {
    const { status, json } = await attempt();
    if (status !== 409 || !/^A wallet change for Base/.test(json.error?.message ?? '')) done.push(`${what}: ${status}`);
  }
  return done;
};

describe('a thief with a session', () => {
  test('and no proof changes neither wallet nor sign-in nor owners, and the owner can end the session', async () => {
    const account = await startFullAccount(dashboard);
    const { victim } = account;
    await victim.unprove();
    expectError(await askWallet(victim), 403, 'permission_denied', 'secondFactor');
    const { 'add a passkey': _, ...ways } = takeovers(account, victim, dashboard);
    for (const attempt of Object.values(ways)) expectError(await attempt(), 403, 'permission_denied', 'secondFactor');
    expectError(await victim.call('POST /me/passkeys/options'), 403, 'permission_denied', 'secondFactor');
    const own = await signInWithPasskey(account.device);
    await own.do('POST /me/sessions/end-others');
    expect((await victim.call('GET /team')).status).toBe(401);
  });

  test('and the password asks for a wallet, and then changes nothing else', async () => {
    const account = await startFullAccount(dashboard);
    const { victim, other } = account;
    await victim.unprove();
    await victim.do('POST /prove', { body: { password: testPassword, code: account.nextCode } });
    await waitingWallet(victim);
    expect(await notRefused(takeovers(account, victim, dashboard))).toEqual([]);
    expect((await other.do('GET /announcements')).walletChanges).toMatchObject([
      { destination: treasuries[1], approvals: [{ personId: victim.personId }] },
    ]);
    const rows = await auditRows(dashboard.scene, account.accountId);
    expect(rows.at(-1)).toMatchObject({ action: 'wallet.change_requested' });
    const body = { email: 'helper@example.com', role: 'viewer' } as const;
    expect((await victim.call('POST /team/invitations', { body })).status, 'no owner').toBe(200);
  });

  test('and a fresh proof by passkey does no more', async () => {
    const account = await startFullAccount(dashboard);
    const { victim, device } = account;
    const thief = await signInWithPasskey(device);
    await victim.unprove();
    const response = device.authenticate(await thief.do('POST /prove/passkey/options'));
    await thief.do('POST /prove', { body: { response } });
    await waitingWallet(thief);
    expect(await notRefused(takeovers(account, thief, dashboard))).toEqual([]);
  });

  test('and a second session of the same owner has one owner behind it', async () => {
    const { people, again } = await someOwners(2);
    const [victim] = people;
    const second = await again(victim!);
    const { id } = await waitingWallet(victim!);
    expectError(await approveWallet(second, id), 409, 'conflict');
    expectHeld(await changePassword(second));
    expectHeld(await changePassword(victim!));
  });

  test('and an admin of their own, who asks for the wallet, has one owner behind it', async () => {
    const { people, join, passTime } = await someOwners(2);
    const [victim, other] = people;
    const admin = await join('admin');
    await passTime(24 * 30);
    const { id } = await waitingWallet(admin);
    expectHeld(await changePassword(victim!));
    expectError(await approveWallet(admin, id), 403, 'permission_denied');
    expect((await approveWallet(victim!, id)).status).toBe(200);
    expectHeld(await changePassword(victim!));
    expect((await changePassword(other!)).status, 'the two are behind the pair').toBe(200);
  });
});

const signInWithPasskey = async (device: ReturnType<typeof createAuthenticator>): Promise<DashboardClient> => {
  const client = dashboard.stranger();
  const response = device.authenticate(await client.do('POST /sign-in/passkey/options'));
  await client.do('POST /sign-in/passkey', { body: { response } });
  return client;
};

describe('first the sign-in or the owners, then the wallet', { tags: ['thorough'] }, () => {
  test.each([
    'change the password',
    'add a passkey',
    'remove the passkey',
    'renew the recovery codes',
    'turn the authenticator off',
    'invite an owner',
    'make a member an owner',
    'take the role of the other owner',
    'remove the other owner',
  ] as const)('%s: no wallet changes for a day, and then the wallet holds everything for a day', async what => {
    const account = await startFullAccount(dashboard);
    const { victim, passTime } = account;
    const answer = await takeovers(account, victim, dashboard)[what]();
    expect(answer.status, answer.text).toBe(200);
    await passTime(1);
    expectWalletHeld(await askWallet(victim));
    const preview = { network: 'base', treasury: treasuries[1] };
    expectWalletHeld(await victim.call('POST /wallets/preview', { environment: 'production', body: preview }));
    await passTime(22);
    expectWalletHeld(await askWallet(victim));
    await passTime(1);
    expect((await waitingWallet(victim)).hours).toBe(24);
    await passTime(23);
    expectHeld(await changePassword(victim, 'a third quiet river'));
    expect((await victim.do('GET /announcements')).walletChanges).toHaveLength(1);
    await passTime(1);
    expect((await changePassword(victim, 'a third quiet river')).status, 'in force').toBe(200);
  });

  test('an owner whom a thief made does not put out the only other one, nor does the thief in their name', async () => {
    const { people, join, passTime } = await someOwners(1);
    const [victim] = people;
    const crook = await join('owner');
    const params = { id: victim!.personId };
    const ways = [
      () => crook.call('DELETE /team/:id', { params }),
      () => crook.call('PATCH /team/:id', { params, body: { role: 'viewer' } }),
      () => victim!.call('PATCH /team/:id', { params, body: { role: 'viewer' } }),
    ];
    for (const way of ways) expectError(await way(), 409, 'conflict');
    expect((await victim!.call('GET /team')).status).toBe(200);
    await passTime(24 * 7);
    expect((await crook.call('DELETE /team/:id', { params })).status, 'a week later').toBe(200);
  });

  test('another owner asks for the wallet whatever the first one does, however often', async () => {
    const { people, passTime } = await someOwners(2);
    const [one, other] = people;
    for (const password of ['a second quiet river', 'a third quiet river', 'a fourth quiet river']) {
      expect((await changePassword(one!, password)).status).toBe(200);
      await passTime(13);
    }
    expectWalletHeld(await askWallet(one!));
    expect((await waitingWallet(other!)).hours).toBe(24);
  });

  test('an admin, or somebody who became an owner lately, asks for no wallet either', async () => {
    const { people, join } = await someOwners(1);
    const [admin, newcomer] = [await join('admin'), await join('owner')];
    await changePassword(people[0]!);
    expectWalletHeld(await askWallet(admin));
    expectWalletHeld(await askWallet(newcomer));
  });
});

describe('first the wallet, then the sign-in', () => {
  test('the only owner stops the change, and has a day to change the password before the next', {
    tags: ['thorough'],
  }, async () => {
    const { people, again, passTime } = await someOwners(1);
    const owner = people[0]!;
    const thief = await again(owner);
    const { id } = await waitingWallet(thief);
    expectHeld(await changePassword(owner));
    expect((await stopWallet(owner, id)).status).toBe(200);
    expectWalletHeld(await askWallet(thief, treasuries[2]));
    await passTime(23);
    expectWalletHeld(await askWallet(thief, treasuries[2]));
    expect((await changePassword(owner)).status).toBe(200);
    expect((await thief.call('GET /team')).status, 'the thief is out').toBe(401);
    await passTime(24);
    expect((await waitingWallet(owner, treasuries[2])).hours).toBe(24);
  });

  test('a change that was stopped holds no other owner', async () => {
    const { people } = await someOwners(2);
    const [one, other] = people;
    await stopWallet(other!, (await waitingWallet(one!)).id);
    expectWalletHeld(await askWallet(one!));
    const { id } = await waitingWallet(other!);
    expect((await stopWallet(one!, id)).status).toBe(200);
  });

  test('another owner is not held: they stop it, change their sign-in, and remove the first', async () => {
    const { people } = await someOwners(2);
    const [victim, other] = people;
    const { id } = await waitingWallet(victim!);
    expect((await changePassword(other!)).status).toBe(200);
    const removal = () => other!.call('DELETE /team/:id', { params: { id: victim!.personId } });
    expectHeld(await removal());
    await other!.unprove();
    expect((await stopWallet(other!, id)).status).toBe(200);
    await other!.prove();
    expect((await removal()).status).toBe(200);
  });

  test('at the same time, one of them sees the other', async () => {
    const { people } = await someOwners(1);
    const [owner] = people;
    const [wallet, password] = await Promise.all([askWallet(owner!), changePassword(owner!)]);
    expect([wallet.status, password.status].toSorted()).toEqual([200, 409]);
    if (wallet.status === 200) expectHeld(password);
    else expectWalletHeld(wallet);
  });

  test('in the sandbox nothing is held', async () => {
    const { people } = await someOwners(1);
    const [owner] = people;
    expect((await askWallet(owner!, treasuries[0], 'sandbox')).status).toBe(200);
    const answer = await askWallet(owner!, treasuries[1], 'sandbox');
    expect(answer.json.pending).toBeNull();
    expect((await changePassword(owner!)).status).toBe(200);
    expect((await askWallet(owner!, treasuries[2], 'sandbox')).json.pending).toBeNull();
  });

  test('a change of another account holds its owners, and nobody else in it', async () => {
    const [here, there] = [await someOwners(1), await someOwners(1)];
    const owner = here.people[0]!;
    const viewer = await here.join('viewer');
    await there.alsoIn(there.accountId, owner, 'owner');
    await there.alsoIn(there.accountId, viewer, 'viewer');
    await waitingWallet(there.people[0]!);
    expectHeld(await changePassword(owner));
    expect((await changePassword(viewer)).status).toBe(200);
  });
});
