import { afterAll, beforeAll, expect, test } from 'vitest';
import { largeKeyedColumns } from '../../src/engine/keys/remakeLarge.ts';
import { largeTables } from '../../src/engine/seals/largeTables.ts';
import type { Database } from '../../src/storage/database.ts';
import { keyedColumns } from '../../src/storage/keys/remadeRows.ts';
import { sealedTableNames } from '../../src/storage/seals.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
});
afterAll(async () => {
  await db.close();
  await clone.drop();
});

/** What `florin rotate master-key` makes anew. */
const remade: readonly string[] = [
  ...sealedTableNames.map(table => `${table}.row_seal`),
  ...largeTables.map(({ table }) => `${table}.row_seal`),
  ...Object.entries(keyedColumns).flatMap(([table, names]) => names.map(name => `${table}.${name}`)),
  ...largeKeyedColumns,
  'audit_heads.hash',
  'audit_heads.row_seal',
  'audit_log.hash',
  'audit_log.previous_hash',
  'outbox.content',
];

const plainHash = 'a hash without a key';
/** Bytes that the master key has no part in, each with the reason. */
const notKeyed: Readonly<Record<string, string>> = {
  'access_links.token_hash': plainHash,
  'account_settings.brand_logo': 'a picture',
  'api_keys.hash': plainHash,
  'audit_log.register': plainHash,
  'delivery_attempts.response': 'what a receiver answered',
  'ended_sessions.token_hash': plainHash,
  'guess_budgets.subject': plainHash,
  'idempotency_keys.body_hash': plainHash,
  'passkey_challenges.challenge': 'random bytes',
  'passkeys.credential_id': 'from the device',
  'passkeys.public_key': 'from the device',
  'people.recovery_hash': plainHash,
  'recovery_links.token_hash': plainHash,
  'sessions.token_hash': plainHash,
  'sign_in_failures.subject': plainHash,
};

test('the rotation of the master key knows every column of bytes, and every seal and MAC', async () => {
  const text = `select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and (data_type = 'bytea' or udt_name = '_bytea'
      or column_name ~ '(^|_)(mac|seal|secret|secrets|signed|sealed|encrypted|cipher|hmac)(_|$)')
    order by 1`;
  const found = (await db.query<{ name: string }>({ name: 'test-bytes', text })).map(({ name }) => name);
  const known = [...remade, ...Object.keys(notKeyed), 'webhook_endpoints.previous_secrets_until'];
  expect(
    found.filter(name => !known.includes(name)),
    'columns that a rotation would leave behind',
  ).toEqual([]);
  expect([...new Set(known)].filter(name => !found.includes(name))).toEqual([]);
});
