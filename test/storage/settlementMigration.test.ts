import { afterEach, beforeEach, expect, test } from 'vitest';
import { readHoldings } from '../../src/storage/holdings.ts';
import { foldTotals } from '../../src/storage/totals.ts';
import { type EarlierDatabase, openEarlierDatabase } from './earlierDatabase.ts';
import { refusal } from './rows.ts';

const accountId = `acct_${'0'.repeat(26)}`;
const paymentId = `pay_${'0'.repeat(26)}`;
let earlier: EarlierDatabase;

/** With one payment that was paid too much, and of which a part was forwarded. */
beforeEach(async () => {
  earlier = await openEarlierDatabase('0009');
  const own = `'${accountId}', 'sandbox'`;
  await earlier.db.script(`insert into accounts (id, name, plan) values ('${accountId}', 'Test', 'starter');
    insert into payments (account_id, environment, id, amount, decimals, currency, network, caip2, address, wallet_kind,
      treasury, derivation_index, mac, tiers, tolerance_bps, late_policy, late_window_seconds, metadata, created_at,
      expires_at, status, exception, amount_received, amount_confirmed, completed_at)
    values (${own}, '${paymentId}', 10, 6, 'USDC', 'base', 'eip155:1', '0xaddress', 'forwarder', '0xtreasury', 0,
      decode(repeat('00', 32), 'hex'), '[{"atLeast":"0","kind":"depth","depth":2}]', 0, 'accept', 0, '{}',
      '2026-01-31T12:00Z', '2026-01-31T13:00Z', 'completed', 'overpaid', 15, 15, '2026-01-31T12:30Z');
    insert into payment_deltas (account_id, environment, status, currency, network, hour, count)
      values (${own}, 'completed', 'USDC', 'base', '2026-01-31T12:00Z', 1);
    insert into chains (caip2) values ('eip155:1');
    insert into blocks (caip2, hash, number, parent_hash, timestamp, canonical, empty)
      values ('eip155:1', '0x1', 1, '0x0', '2026-01-31T12:40Z', true, false);
    insert into forwards (caip2, key, account_id, environment, payment_id, amount, block_hash, block_number, canonical,
      verified) values ('eip155:1', 'first', ${own}, '${paymentId}', 4, '0x1', 1, true, true)`);
});
afterEach(() => earlier.close());

const read = (text: string) => earlier.db.query({ name: '', text });
const fileOfPayments = () => read(`select pg_relation_filenode('payments') as file`);

test('what exists is counted, and the table of payments is not written anew', async () => {
  const before = await fileOfPayments();
  await earlier.upgrade();
  expect(await fileOfPayments()).toEqual(before);
  expect(await read('select amount_forwarded as forwarded from payments')).toEqual([{ forwarded: '4' }]);
  expect(await read('select first_seen_at as at from forwards')).toEqual([{ at: new Date('2026-01-31T12:40Z') }]);
  await foldTotals(earlier.db, 1_000);
  const held = await readHoldings(earlier.db, { accountId, environment: 'sandbox' });
  expect(held).toMatchObject([{ amount: 11n, payments: 1 }]);
  expect(await read('select count::int, amount from volume_totals')).toEqual([{ count: 1, amount: '15' }]);
  const states = `select exception, count::int from payment_totals
    where status = 'completed' and currency = '' and network = '' order by 1`;
  expect(await read(states)).toEqual([
    { exception: '', count: 1 },
    { exception: 'overpaid', count: 1 },
  ]);
  const tooMuch = earlier.db.script('update payments set amount_forwarded = 1e54 + 1');
  await expect(tooMuch).rejects.toMatchObject({ code: refusal.check });
});

const undefinedColumn = '42703';

test('a process of the version before can neither write totals or forwards nor fold', async () => {
  await earlier.upgrade();
  const insert = `insert into payment_deltas (account_id, environment, status, currency, network, hour, count)
    values ('${accountId}', 'sandbox', 'pending', 'USDC', 'base', '2026-01-31T12:00Z', 1)`;
  await expect(read(insert)).rejects.toMatchObject({ code: undefinedColumn });
  // As the earlier folder began: it took deltas and added up their counts.
  const fold = `with taken as (delete from payment_deltas d returning d.*)
    select account_id, status, sum(count)::int as count from taken group by 1, 2`;
  await expect(read(fold)).rejects.toMatchObject({ code: undefinedColumn });
  const forward = `insert into forwards (caip2, key, account_id, environment, payment_id, amount, block_hash, block_number,
      canonical, verified)
    values ('eip155:1', 'second', '${accountId}', 'sandbox', '${paymentId}', 4, '0x1', 1, true, true)`;
  await expect(read(forward)).rejects.toMatchObject({ code: refusal.notNull });
});
