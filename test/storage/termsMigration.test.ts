// @module-tag thorough
import { expect, test } from 'vitest';
import { openEarlierDatabase } from './earlierDatabase.ts';

const hash = `\\x${'00'.repeat(32)}`;
const account = (name: string): string => `acct_${name.padEnd(26, '0')}`;

/** Settings of an account in both environments, and what the audit log says of them. */
const settings = (name: string, policy: string, audited: string[] = []): string => `
  insert into accounts (id, name, plan) values ('${account(name)}', '${name}', 'starter');
  insert into account_settings (account_id, environment, callback_secret, late_policy)
    select '${account(name)}', e, '\\x00', '${policy}' from unnest(array['sandbox', 'production']::environment[]) e;
  ${audited
    .map(
      (
        detail,
        at,
      ) => `insert into audit_log (account_id, sequence, at, environment, actor_kind, actor_name, action, detail,
        previous_hash, hash) values ('${account(name)}', ${at + 1}, now(), 'sandbox', 'person', 'Ada', 'settings.changed',
        '${detail}', '${hash}', '${hash}');`,
    )
    .join('\n')}`;

test('a late policy that nobody ever set becomes one by currency, and one that somebody chose stays', async () => {
  const { db, upgrade } = await openEarlierDatabase('0013');
  await db.script(settings('a', 'accept', ['{"tolerancePercent":{"before":"0.00","after":"1.00"}}']));
  await db.script(settings('b', 'manual'));
  const back = '{"latePolicy":{"before":"manual","after":"accept"}}';
  await db.script(settings('c', 'accept', ['{"latePolicy":{"before":"accept","after":"manual"}}', back]));
  await upgrade();
  const text = `select a.name, s.environment, s.late_policy from account_settings s join accounts a on a.id = s.account_id
    order by a.name, s.environment`;
  expect(await db.query({ name: 'test-late-policies', text })).toEqual([
    { name: 'a', environment: 'production', late_policy: null },
    { name: 'a', environment: 'sandbox', late_policy: null },
    { name: 'b', environment: 'production', late_policy: 'manual' },
    { name: 'b', environment: 'sandbox', late_policy: 'manual' },
    { name: 'c', environment: 'production', late_policy: null },
    { name: 'c', environment: 'sandbox', late_policy: 'accept' },
  ]);
});
