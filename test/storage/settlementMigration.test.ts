import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { listPayments } from '../../src/storage/payments/listPayments.ts';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import { readHoldings } from '../../src/storage/settlement/holdings.ts';
import { ledgerFaults, readLedger } from '../../src/storage/settlement/ledger.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

const folder = new URL('../../src/storage/migrations/', import.meta.url);
const account = `acct_${'0'.repeat(26)}`;
const scope = { accountId: account, environment: 'sandbox' } as const;
const idOf = (n: number): string => `pay_01${String(n).padStart(24, '0')}`;

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  await db.script('drop schema public cascade; create schema public');
  const names = (await readdir(folder)).sort();
  for (const name of names.filter(each => each < '0009'))
    await db.script(await readFile(new URL(name, folder), 'utf8'));
  await db.script(before);
  for (const name of names.filter(each => each >= '0009'))
    await db.script(await readFile(new URL(name, folder), 'utf8'));
});

const payment = (n: number, columns: Record<string, string>): string => {
  const all: Record<string, string> = {
    account_id: `'${account}'`,
    environment: `'sandbox'`,
    id: `'${idOf(n)}'`,
    amount: '100',
    decimals: '6',
    currency: `'USDC'`,
    network: `'base'`,
    caip2: `'eip155:1'`,
    contract: `'0xtoken'`,
    address: `'0x${n}'`,
    wallet_kind: `'forwarder'`,
    treasury: `'0xtreasury'`,
    derivation_index: String(n),
    mac: `decode(repeat('00', 32), 'hex')`,
    tiers: `'[1]'`,
    tolerance_bps: '0',
    late_policy: `'accept'`,
    late_window_seconds: '0',
    metadata: `'{}'`,
    created_at: `'2026-01-01T10:30:00Z'`,
    expires_at: `'2026-01-01T11:30:00Z'`,
    ...columns,
  };
  return `insert into payments (${Object.keys(all).join(', ')}) values (${Object.values(all).join(', ')});`;
};
const completed = (amount: string, at: string): Record<string, string> => ({
  status: `'completed'`,
  amount_received: amount,
  amount_confirmed: amount,
  completed_at: `'${at}'`,
});
const counted = (status: string, count: number): string =>
  `insert into payment_deltas (account_id, environment, status, currency, network, hour, count)
    values ('${account}', 'sandbox', '${status}', 'USDC', 'base', '2026-01-01T10:00:00Z', ${count});`;
const forward = (n: number, key: string, amount: string, verified: boolean): string =>
  `insert into forwards (caip2, key, account_id, environment, payment_id, contract, amount, block_hash, block_number, canonical, verified)
    values ('eip155:1', '${key}', '${account}', 'sandbox', '${idOf(n)}', '0xtoken', ${amount}, '0xb', 1, true, ${verified});`;

const transfer = (n: number, amount: string): string =>
  `insert into transfers (caip2, key, account_id, environment, payment_id, stray, contract, amount, block_hash, block_number, canonical, verified, first_seen_at)
    values ('eip155:1', 't${n}', '${account}', 'sandbox', '${idOf(n)}', false, '0xtoken', ${amount}, '0xb', 1, true, true, now());`;

/** Payments as an earlier version left them. */
const before = `
  insert into accounts (id, name, plan) values ('${account}', 'Test', 'starter');
  insert into chains (caip2, start_number, latest_number, latest_hash) values ('eip155:1', 0, 1, '0xb');
  insert into blocks (caip2, hash, number, parent_hash, timestamp, canonical, empty)
    values ('eip155:1', '0xb', 1, '0xa', now(), true, false);
  ${payment(1, completed('100', '2026-01-01T23:59:59Z'))}
  ${payment(2, completed('107', '2026-01-02T00:00:00Z'))}
  ${payment(3, { ...completed('50', '2026-01-02T00:00:00Z'), wallet_kind: `'xpub'` })}
  ${payment(4, { exception: `'underpaid'`, amount_received: '40', amount_confirmed: '30' })}
  ${payment(5, { status: `'expired'`, exception: `'underpaid'`, amount_received: '9' })}
  ${payment(6, {})}
  ${transfer(1, '100')} ${transfer(2, '107')} ${transfer(3, '50')} ${transfer(4, '40')} ${transfer(5, '9')}
  ${counted('completed', 3)} ${counted('pending', 2)} ${counted('expired', 1)}
  ${forward(1, 'a', '100', true)} ${forward(2, 'b', '7', true)} ${forward(4, 'c', '30', false)}`;

const total = async (filter: Parameters<typeof listPayments>[2]): Promise<number> =>
  (await listPayments(db, scope, filter, { limit: 10, offset: 0 })).total;

test('what was there is counted as if it had always been: volumes, exceptions, unswept funds', async () => {
  const text = `select day::text as day, count::int as count, amount::text as amount from volume_totals order by day`;
  expect(await db.query({ name: 'test-volumes', text })).toEqual([
    { day: '2026-01-01', count: 1, amount: '100' },
    { day: '2026-01-02', count: 2, amount: '157' },
  ]);
  expect(await readHoldings(db, scope)).toMatchObject([{ treasury: '0xtreasury', amount: 130n, payments: 2 }]);
  const flows = (await readLedger(db, scope)).map(({ source, destination, amount }) => [source, destination, amount]);
  expect(flows).toEqual([
    ['forwarders', 'treasury', 107n],
    ['received', 'forwarders', 256n],
    ['received', 'treasury', 50n],
  ]);
  expect(await ledgerFaults(db)).toEqual([]);
  for (const _ of ['before', 'after']) {
    expect(await total({})).toBe(6);
    expect(await total({ exception: 'underpaid' })).toBe(2);
    expect(await total({ exception: 'underpaid', status: 'expired' })).toBe(1);
    expect(await total({ status: 'pending' })).toBe(2);
    await foldTotals(db, 1_000);
  }
});
