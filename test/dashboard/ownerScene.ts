import { expect } from 'vitest';
import type { Role } from '../../src/core/access/rights.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { putMembership } from '../../src/storage/access/memberships.ts';
import { base32Of, totpCode, totpStep } from '../../src/vault/totp.ts';
import { expectError } from '../api/paymentCalls.ts';
import { createAuthenticator, type TestAuthenticator } from '../support/authenticator.ts';
import { type DashboardClient, type TestDashboard, testPassword } from '../support/dashboard.ts';

const production = { environment: 'production' } as const;
export const treasuries = [
  '0x00000000000000000000000000000000DeaDBeef',
  '0x00000000000000000000000000000000000A11cE',
  '0x0000000000000000000000000000000000C0FFEE',
] as const;

type Sealed = { version: number; kind: string; network: string; destination: string; takesEffectAt: Date };

/** Moves everything that the account remembers back, because the clock of the database cannot be moved. */
const passTime = async ({ scene }: TestDashboard, accountId: string, hours: number): Promise<void> => {
  const { db, vault } = scene.admin;
  const mine = `account_id = '${accountId}'`;
  // The audit log cannot be changed otherwise; nothing here reads its seals.
  await db.script(`set local session_replication_role = replica;
    update audit_log set at = at - interval '${hours} hours' where ${mine};
    update memberships set owner_since = owner_since - interval '${hours} hours' where ${mine};
    update passkeys set created_at = created_at - interval '${hours} hours'
      where person_id in (select person_id from memberships where ${mine});
    update people set earlier_until = earlier_until - interval '${hours} hours'
      where id in (select person_id from memberships where ${mine});
    update wallet_stops set stopped_at = stopped_at - interval '${hours} hours' where ${mine};
    update wallets set created_at = created_at - interval '${hours} hours',
      takes_effect_at = takes_effect_at - interval '${hours} hours' where ${mine}`);
  const rows = await db.query<Sealed>({
    name: '',
    text: `select version, kind, network, destination, takes_effect_at as "takesEffectAt" from wallets
      where ${mine} and environment = 'production' and takes_effect_at is not null`,
  });
  for (const { takesEffectAt, ...row } of rows) {
    const fields = { accountId, environment: 'production' as const, ...row, takesEffectAtMs: takesEffectAt.getTime() };
    const text = `update wallets set mac = $1 where ${mine} and environment = 'production' and network = $2 and version = $3`;
    await db.query({ name: '', text }, [vault.walletVersionMac(fields), row.network, row.version]);
  }
};

const bytesOf = (base32: string): Buffer => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...base32].map(letter => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)));
};

/** An account whose production wallet for Base is set, and owners who have been that for long. */
export const startOwners = async (dashboard: TestDashboard, owners: number) => {
  const { id: accountId } = await dashboard.scene.account();
  const join = async (role: Role): Promise<DashboardClient> => {
    const person = await dashboard.newPerson(role, accountId);
    await person.prove();
    return person;
  };
  const people: DashboardClient[] = [];
  for (let made = 0; made < owners; made++) people.push(await join('owner'));
  const [first] = people;
  const body = { network: 'base', treasury: treasuries[0] };
  await first!.do('POST /wallets', { ...production, body });
  await passTime(dashboard, accountId, 24 * 30);
  return {
    accountId,
    people,
    join,
    passTime: (hours: number) => passTime(dashboard, accountId, hours),
    /** The same person in another browser. */
    async again(person: DashboardClient): Promise<DashboardClient> {
      const client = dashboard.stranger();
      await client.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
      await person.prove();
      return client;
    },
    /** A fresh proof by a second factor in every session of the account. */
    proveAll: () =>
      dashboard.scene.admin.db.script(`update sessions set proven_until = clock_timestamp() + interval '5 minutes',
          strongly_proven_until = clock_timestamp() + interval '5 minutes'
        where account_id = '${accountId}'`),
    alsoIn: (account: string, person: DashboardClient, role: Role) =>
      dashboard.scene.admin.db.transaction(async tx => {
        await putMembership(tx, account, person.personId, role);
        await sealRegister(dashboard.scene.admin, tx, account);
      }),
  };
};

export const askWallet = (
  person: DashboardClient,
  treasury: string = treasuries[1],
  environment: 'sandbox' | 'production' = 'production',
) => person.call('POST /wallets', { environment, body: { network: 'base', treasury } });

/** A wallet change that waits: its id, and how long it waits in hours. */
export const waitingWallet = async (person: DashboardClient, treasury: string = treasuries[1]) => {
  const { status, json, text } = await askWallet(person, treasury);
  if (status !== 200 || !json.pending) throw new Error(`the wallet change answered ${status}: ${text}`);
  const { id, requestedAt, takesEffectAt } = json.pending;
  return { id, hours: (Date.parse(takesEffectAt) - Date.parse(requestedAt)) / 3_600_000 };
};

export const stopWallet = (person: DashboardClient, id: string) =>
  person.call('POST /wallet-changes/:id/stop', { ...production, params: { id } });
export const approveWallet = (person: DashboardClient, id: string) =>
  person.call('POST /wallet-changes/:id/approve', { ...production, params: { id } });

export const changePassword = (person: DashboardClient, password = 'another quiet river') =>
  person.call('POST /me/password', { body: { password } });

export const addPasskey = async (person: DashboardClient, device: TestAuthenticator) => {
  const response = device.register(await person.do('POST /me/passkeys/options'));
  return person.call('POST /me/passkeys', { body: { name: 'Phone', response } });
};

/** An owner with everything that can be changed: a passkey, an authenticator app, another owner and a viewer. */
export const startFullAccount = async (dashboard: TestDashboard) => {
  const team = await startOwners(dashboard, 2);
  const [victim, other] = team.people as [DashboardClient, DashboardClient];
  const viewer = await team.join('viewer');
  const device = createAuthenticator(dashboard.url);
  const passkey = (await addPasskey(victim, device)).json.id;
  const { secret } = await victim.do('POST /me/totp/begin');
  const bytes = bytesOf(secret);
  if (base32Of(bytes) !== secret) throw new Error('the secret was not read');
  const step = totpStep(Date.now());
  await victim.do('POST /me/totp', { body: { code: totpCode(bytes, step) } });
  await team.passTime(48);
  return { ...team, victim, other, viewer, device, passkey, nextCode: totpCode(bytes, step + 1n) };
};
export type FullAccount = Awaited<ReturnType<typeof startFullAccount>>;

/** Everything that changes owners or how the victim signs in. */
export const takeovers = (account: FullAccount, by: DashboardClient, dashboard: TestDashboard) => {
  const { other, viewer, passkey } = account;
  const body = { email: `crook-of-${account.accountId.toLowerCase()}@example.com`, role: 'owner' } as const;
  return {
    'change the password': () => changePassword(by),
    'add a passkey': () => addPasskey(by, createAuthenticator(dashboard.url)),
    'remove the passkey': () => by.call('DELETE /me/passkeys/:id', { params: { id: passkey } }),
    'renew the recovery codes': () => by.call('POST /me/recovery-codes'),
    'turn the authenticator off': () => by.call('DELETE /me/totp'),
    'invite an owner': () => by.call('POST /team/invitations', { body }),
    'make a member an owner': () =>
      by.call('PATCH /team/:id', { params: { id: viewer.personId }, body: { role: 'owner' } }),
    'take the role of the other owner': () =>
      by.call('PATCH /team/:id', { params: { id: other.personId }, body: { role: 'viewer' } }),
    'remove the other owner': () => by.call('DELETE /team/:id', { params: { id: other.personId } }),
  };
};

export const expectHeld = (answer: Parameters<typeof expectError>[0]): void => {
  expectError(answer, 409, 'conflict');
  expect(answer.text).toMatch(/A wallet change for Base takes effect at .* Stop the wallet change/);
};

export const expectWalletHeld = (answer: Parameters<typeof expectError>[0]): void => {
  expectError(answer, 409, 'conflict');
  expect(answer.text).toMatch(/In the last 24 hours an owner, .* Request the change after /);
};
