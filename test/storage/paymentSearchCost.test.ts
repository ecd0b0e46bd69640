import { beforeAll, expect, test } from 'vitest';
import { firstIdAt } from '../../src/core/ids.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { strayedNow } from '../../src/storage/payments/homeFigures.ts';
import { searchedPayments, searchPayments } from '../../src/storage/payments/searchPayments.ts';
import { genericPagesRead, pagesRead } from '../support/pagesRead.ts';
import { openRows, type Rows } from './rows.ts';

const [few, many] = [searchedPayments + 1_000, 3 * searchedPayments];
const atMs = Date.parse('2026-01-31T12:00:00Z');

let rows: Rows;
let scope: { accountId: string; environment: 'sandbox' };
beforeAll(async () => {
  rows = await openRows();
  scope = { accountId: await rows.account(), environment: 'sandbox' };
});

/** Copies of one payment, all told to have got another token. */
const grow = async (from: number, to: number): Promise<void> => {
  const id = firstIdAt('payment', atMs).slice(0, -8);
  await rows.run(`insert into payments (account_id, environment, id, amount, decimals, currency, network, caip2, address,
      wallet_kind, treasury, derivation_index, mac, tiers, tolerance_bps, late_policy, late_window_seconds, description,
      metadata, created_at, expires_at, strayed)
    select '${scope.accountId}', 'sandbox', '${id}' || lpad(n::text, 8, '0'), 1, 6, 'USDC', 'base', 'eip155:31337', '0x' || n,
      'forwarder', '0x1', n, decode(repeat('00', 32), 'hex'), '[{"atLeast":"0","kind":"depth","depth":2}]', 0, 'accept', 0,
      'Chair ' || n, '{"customer":"Grace"}', now(), now() + interval '1 hour', true
    from generate_series(${from + 1}, ${to}) n`);
  await rows.run('vacuum analyze');
};

const wanted = (text: string) => ({ text, address: text, txHash: text });
const page = { limit: 25, offset: 0 };
const works: Record<string, (db: Queryable) => Promise<unknown>> = {
  'a text that is nowhere': db => searchPayments(db, scope, {}, wanted('nowhere'), page),
  'a text that is everywhere': db => searchPayments(db, scope, { status: 'pending' }, wanted('grace'), page),
  'payments with strays': db => searchPayments(db, scope, { strayed: true }, null, page),
  'the figure of the home page': db => strayedNow(db, scope),
};
const costs = async (): Promise<number[]> => {
  const found: number[] = [];
  for (const work of Object.values(works)) {
    found.push(await pagesRead(rows.db, work), await genericPagesRead(rows.db, work));
  }
  return found;
};

test('creating a payment writes nothing to the index of strays', async () => {
  const size = async () => (await rows.read(`select pg_relation_size('payments_strayed')::int as bytes`))[0]!.bytes;
  const empty = await size();
  const id = await rows.payment(await rows.account());
  expect(await size()).toBe(empty);
  await rows.run(`update payments set strayed = true where id = '${id}'`);
  expect(await size()).toBeGreaterThan(empty as number);
});

test('a search looks at the newest payments alone, and costs the same with three times as many', {
  tags: ['thorough'],
  timeout: 120_000,
}, async () => {
  await grow(0, few);
  const before = await costs();
  const old = await searchPayments(rows.db, scope, {}, wanted('chair 7'), page);
  expect(old.isCut).toBe(true);
  // Of 11,000 payments the newest 10,000 are looked at: 7, 70 to 79 and 700 to 799 are not among them.
  expect(old.total).toBe(1_000);
  await grow(few, many);
  const after = await costs();
  const names = Object.keys(works).flatMap(name => [name, `${name}, generic plan`]);
  // Without the bound, three times as many payments would cost 2.7 times as much. Servers plan a little differently.
  const grown = names.filter((_, at) => after[at]! > before[at]! * 1.5 + 20);
  expect(grown, JSON.stringify({ before, after })).toEqual([]);
});
