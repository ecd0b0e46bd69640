// @module-tag thorough
import { expect, test } from 'vitest';
import { accountsOf, listMembers } from '../../src/storage/access/memberships.ts';
import { findPersonByEmail } from '../../src/storage/access/people.ts';
import { findSession } from '../../src/storage/access/sessions.ts';
import { openEarlierDatabase } from './earlierDatabase.ts';

const id = (prefix: string, name: string): string => `${prefix}_${name.padEnd(26, '0')}`;
const bytes = (digit: number): string => `\\x${String(digit).padStart(2, '0').repeat(32)}`;
const roles = ['owner', 'admin', 'developer', 'finance', 'support', 'viewer'] as const;

/** Ten people in three accounts. Nine and ten have one e-mail address: one was removed, the other invited again. */
const people = Array.from({ length: 10 }, (_, at) => ({
  id: id('usr', `p${at}`),
  account: id('acct', 'abc'[at % 3]!),
  email: at >= 8 ? 'twice@example.com' : `p${at}@example.com`,
  role: at < 3 ? 'owner' : roles[at % roles.length]!,
  isRemoved: at === 8,
}));

const before = `
  ${['a', 'b', 'c'].map(name => `insert into accounts (id, name, plan) values ('${id('acct', name)}', '${name}', 'starter');`).join('\n')}
  ${people
    .map(
      (
        { id: person, account, email, role, isRemoved },
        at,
      ) => `insert into people (account_id, id, email, name, role, password_hash, totp_secret, removed_at)
        values ('${account}', '${person}', '${email}', 'Person ${at}', '${role}', ${isRemoved ? 'null' : `'hash ${at}'`},
          ${isRemoved ? 'null' : `'\\x0${at}'`}, ${isRemoved ? 'now()' : 'null'});
        ${
          isRemoved
            ? ''
            : `insert into sessions (account_id, person_id, id, token_hash, expires_at, address, device)
          values ('${account}', '${person}', '${id('ses', `s${at}`)}', '${bytes(at)}', now() + interval '1 hour', '::1', 'Test');
        insert into passkeys (account_id, person_id, id, credential_id, public_key, counter, backed_up, name)
          values ('${account}', '${person}', '${id('psk', `k${at}`)}', '\\x0${at}', '\\x01', 0, true, 'Key');
        insert into recovery_codes (account_id, person_id, hash) values ('${account}', '${person}', '${bytes(at)}');`
        }`,
    )
    .join('\n')}
  insert into api_keys (account_id, environment, id, name, hash, hint, scopes, created_at)
    select '${id('acct', 'c')}', 'sandbox', key, key, decode(md5(key) || md5(key), 'hex'), 'hint', array['payments:read'], now()
    from unnest(array['${id('key', 'made')}', '${id('key', 'next')}', '${id('key', 'cli')}']) as k(key);
  insert into audit_log (account_id, sequence, at, environment, actor_kind, actor_id, actor_name, action, subject, detail,
    previous_hash, hash)
  values ('${id('acct', 'c')}', 1, now(), 'sandbox', 'person', '${people[2]!.id}', 'Person 2', 'key.created',
      '${id('key', 'made')}', '{}', '${bytes(0)}', '${bytes(1)}'),
    ('${id('acct', 'c')}', 2, now(), 'sandbox', 'person', '${people[5]!.id}', 'Person 5', 'key.rotated',
      '${id('key', 'made')}', '{"successorId":"${id('key', 'next')}"}', '${bytes(0)}', '${bytes(2)}'),
    ('${id('acct', 'c')}', 3, now(), 'sandbox', 'operator', null, 'Command line', 'key.created', '${id('key', 'cli')}',
      '{}', '${bytes(0)}', '${bytes(3)}');
  insert into wallets (account_id, environment, network, version, kind, destination, mac, seal, requested_by, takes_effect_at)
    values ('${id('acct', 'a')}', 'production', 'base', 1, 'forwarder', '0x00000000000000000000000000000000DeaDBeef',
      '${bytes(1)}', 2, 'Person 0', now() + interval '1 day');`;

test('everybody keeps their sign-in, their session and their role, and keys get their makers', async () => {
  const { db, upgrade } = await openEarlierDatabase('0019');
  await db.script(before);
  await upgrade();
  for (const [at, { id: person, account, email, role, isRemoved }] of people.entries()) {
    const members = await listMembers(db, account);
    const found = members.find(member => member.id === person);
    if (isRemoved) {
      expect(found).toBeUndefined();
      continue;
    }
    expect(found, email).toMatchObject({ role, email, firstAccountId: account, passkeys: 1, recoveryCodesLeft: 1 });
    expect(await findPersonByEmail(db, email)).toMatchObject({ id: person, passwordHash: `hash ${at}` });
    expect(await accountsOf(db, person)).toEqual([{ id: account, name: account.slice(5, 6), role }]);
    const session = await findSession(db, Buffer.alloc(32, Number(`0x0${at}`)), { idleSeconds: 600, staleSeconds: 60 });
    expect(session, email).toMatchObject({ personId: person, accountId: account, role });
  }
  const keys = await db.query<{ id: string; by: string | null }>({
    name: 'test-key-makers',
    text: 'select id, created_by as by from api_keys order by id',
  });
  expect(Object.fromEntries(keys.map(key => [key.id, key.by]))).toEqual({
    [id('key', 'made')]: people[2]!.id,
    [id('key', 'next')]: people[5]!.id,
    [id('key', 'cli')]: null,
  });
  const [wallet] = await db.query({ name: 'test-wallet', text: 'select requested_by as by from wallets' });
  expect(wallet).toEqual({ by: 'Person 0' });
});
