import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

/** Roles belong to the whole server, and a server given to the tests may not allow them to create roles. */
const isEmbedded = process.env.TEST_DATABASE_URL === undefined;

const role = `florin_test_${randomBytes(4).toString('hex')}`;
let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
});
afterAll(async () => {
  if (isEmbedded) await db.script(`drop owned by ${role}; drop role ${role}`);
  await db.close();
  await clone.drop();
});

const tablesThatAllow = async (privilege: string): Promise<string[]> => {
  const text = `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    and has_table_privilege($1, oid, $2) order by relname`;
  return (await db.query<{ name: string }>({ name: 'test-grants', text }, [role, privilege])).map(row => row.name);
};

test.runIf(isEmbedded)('the service may delete and change rows only where that is its work', async () => {
  await db.script(`create role ${role}; grant delete on all tables in schema public to ${role}`);
  await migrate({ connectionString: clone.url }, { log: silentLog, serviceRole: role });

  const readable = await tablesThatAllow('select');
  expect(readable).toContain('schema_migrations');
  expect(await tablesThatAllow('insert')).toEqual(readable.filter(name => !/^schema_/.test(name)));
  expect(await tablesThatAllow('delete')).toEqual([
    ...[
      'access_links',
      'blocks',
      'deliveries',
      'ended_sessions',
      'guess_budgets',
      'holding_deltas',
      'idempotency_keys',
      'ledger_deltas',
      'outbox',
      'passkey_challenges',
      'passkeys',
    ],
    ...['payment_deltas', 'sessions', 'sign_in_failures', 'suspected_differences', 'volume_deltas'],
  ]);
  expect(await tablesThatAllow('truncate')).toEqual([]);
  const onlyAddedTo = [
    ...[
      'accounts',
      'audit_log',
      'chain_branches',
      'delivery_attempts',
      'events',
      'holding_deltas',
      'ledger_corrections',
      'ledger_deltas',
      'payment_deltas',
      'schema_expansions',
      'schema_migrations',
    ],
    ...[
      'derivation_epochs',
      'lost_addresses',
      'restore_reviews',
      'suspected_differences',
      'sweep_payments',
      'sweeps',
      'transfer_decisions',
      'treasury_confirmations',
      'unclaimed_funds',
    ],
    ...['volume_deltas', 'wallet_approvals', 'wallet_effects', 'wallet_stops', 'wallet_verifications', 'wallets'],
  ];
  expect(await tablesThatAllow('update')).toEqual(readable.filter(name => !onlyAddedTo.includes(name)));
});
