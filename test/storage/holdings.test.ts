import { beforeAll, beforeEach, expect, test } from 'vitest';
import { orphanBlocks } from '../../src/storage/chain/blocks.ts';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import { readHoldings, settleForwards } from '../../src/storage/settlement/holdings.ts';
import { ledgerFaults, readLedger } from '../../src/storage/settlement/ledger.ts';
import { testVault } from '../support/testVault.ts';
import { openRows, type Rows, refusal } from './rows.ts';

const caip2 = 'eip155:31337';
let rows: Rows;
let account: string;
beforeAll(async () => {
  rows = await openRows();
  await rows.insert('chains', { caip2: `'${caip2}'` });
});
beforeEach(async () => {
  account = await rows.account();
});

const holding = (count: number, amount: number) =>
  rows.insert('holding_deltas', {
    ...{ account_id: `'${account}'`, environment: `'sandbox'`, network: `'base'`, caip2: `'${caip2}'` },
    ...{ currency: `'USDC'`, contract: `''`, decimals: '6', treasury: `'0xtreasury'` },
    ...{ count: `${count}`, amount: `${amount}` },
  });
const block = (number: number, branch: string) =>
  rows.insert('blocks', {
    ...{ caip2: `'${caip2}'`, hash: `'0x${branch}${number}'`, number: `${number}`, parent_hash: `'0x'` },
    ...{ timestamp: 'now()', canonical: 'true', empty: 'false' },
  });
const forward = (payment: string, amount: number, number: number, branch: string) =>
  rows.insert('forwards', {
    ...{ caip2: `'${caip2}'`, key: `'${branch}${number}${payment}'`, account_id: `'${account}'` },
    ...{
      environment: `'sandbox'`,
      payment_id: `'${payment}'`,
      amount: `${amount}`,
      block_hash: `'0x${branch}${number}'`,
    },
    ...{ block_number: `${number}`, canonical: 'true', verified: 'true', recorded_at: 'now()' },
  });
const received = (payment: string, amount: number, number: number, branch: string) =>
  rows.insert('transfers', {
    ...{
      caip2: `'${caip2}'`,
      key: `'${branch}${number}${payment}'`,
      account_id: `'${account}'`,
      environment: `'sandbox'`,
    },
    ...{ payment_id: `'${payment}'`, stray: 'false', amount: `${amount}`, block_hash: `'0x${branch}${number}'` },
    ...{ block_number: `${number}`, canonical: 'true', verified: 'true', first_seen_at: 'now()' },
  });
const held = async () =>
  (await readHoldings(rows.db, { accountId: account, environment: 'sandbox' })).map(({ amount, payments }) => [
    amount,
    payments,
  ]);

test('a reorg that moves a forward to another payment moves the count, though the sum stays', async () => {
  const a = await rows.payment(account, { amount_received: '10', amount_confirmed: '10' });
  const b = await rows.payment(account, { amount_received: '13', amount_confirmed: '13' });
  await holding(2, 23);
  await block(0, 'a');
  await received(a, 10, 0, 'a');
  await received(b, 13, 0, 'a');
  await block(1, 'a');
  await forward(a, 10, 1, 'a');
  await settleForwards(rows.db, caip2, { from: 1 }, []);
  expect(await held()).toEqual([[13n, 1]]);
  await orphanBlocks(rows.db, testVault, caip2, 0);
  await block(1, 'b');
  await forward(b, 10, 1, 'b');
  await settleForwards(rows.db, caip2, { from: 1 }, []);
  expect(await held()).toEqual([[13n, 2]]);
  await block(2, 'b');
  await forward(a, 10, 2, 'b');
  await forward(b, 3, 2, 'b');
  await settleForwards(rows.db, caip2, { from: 2 }, []);
  await foldTotals(rows.db, 1_000);
  expect(await held()).toEqual([]);
  expect(await rows.read(`select count::int, amount from holding_totals where account_id = '${account}'`)).toEqual([
    { count: 0, amount: '0' },
  ]);
});

const ledger = async () =>
  Object.fromEntries(
    (await readLedger(rows.db, { accountId: account, environment: 'sandbox' })).map(
      ({ source, destination, amount }) => [`${source} to ${destination}`, amount],
    ),
  );

test('what a sweep moved beyond the records is found, and does not hide what arrives later', async () => {
  const late = await rows.payment(account, { amount_received: '10', amount_confirmed: '10' });
  await holding(1, 10);
  for (const number of [11, 12, 13]) await block(number, 'd');
  await received(late, 10, 11, 'd');
  await forward(late, 15, 12, 'd');
  const found = await settleForwards(rows.db, caip2, { from: 12 }, []);
  expect(found).toMatchObject([{ id: late, contract: null, amount: '5' }]);
  expect(await held()).toEqual([]);
  expect(await ledger()).toEqual({
    'received to forwarders': 10n,
    'found to forwarders': 5n,
    'forwarders to treasury': 15n,
  });

  await received(late, 4, 13, 'd');
  await rows.run(`update payments set amount_received = 14, amount_confirmed = 14 where id = '${late}'`);
  await holding(1, 4);
  expect(
    await settleForwards(rows.db, caip2, { at: [] }, [{ accountId: account, environment: 'sandbox', id: late }]),
  ).toEqual([]);
  expect(await held()).toEqual([[4n, 1]]);

  // The missed transfer is found after all, in the block of the first one.
  await rows.insert('transfers', {
    ...{ caip2: `'${caip2}'`, key: `'missed'`, account_id: `'${account}'`, environment: `'sandbox'`, stray: 'false' },
    ...{ payment_id: `'${late}'`, amount: '5', block_hash: `'0xd11'`, block_number: '11', canonical: 'true' },
    ...{ verified: 'true', first_seen_at: 'now()' },
  });
  await rows.run(`update payments set amount_received = 19, amount_confirmed = 19 where id = '${late}'`);
  await holding(0, 5);
  await settleForwards(rows.db, caip2, { at: [] }, [{ accountId: account, environment: 'sandbox', id: late }]);
  expect(await held()).toEqual([[4n, 1]]);
  expect(await ledger()).toEqual({ 'received to forwarders': 19n, 'forwarders to treasury': 15n });
});

test('a reorg that removes a sweep removes what it found, also if no other fact of the token is left', async () => {
  const empty = await rows.payment(account);
  for (const number of [21, 22]) await block(number, 'e');
  await forward(empty, 9, 22, 'e');
  expect(await settleForwards(rows.db, caip2, { at: [22] }, [])).toMatchObject([{ id: empty, amount: '9' }]);
  expect(await ledger()).toEqual({ 'found to forwarders': 9n, 'forwarders to treasury': 9n });
  await orphanBlocks(rows.db, testVault, caip2, 21);
  await settleForwards(rows.db, caip2, { from: 22 }, []);
  expect(await ledger()).toEqual({});
  expect(await ledgerFaults(rows.db)).toEqual([]);
});

test('a transfer that is not verified yet hides nothing that arrives later, and is no alarm', async () => {
  const mixed = await rows.payment(account, { amount_received: '160', amount_confirmed: '10' });
  for (const number of [31, 32, 33]) await block(number, 'f');
  await received(mixed, 100, 31, 'f');
  await rows.run(`update transfers set verified = false where payment_id = '${mixed}'`);
  await rows.insert('transfers', {
    ...{ caip2: `'${caip2}'`, key: `'small'`, account_id: `'${account}'`, environment: `'sandbox'`, stray: 'false' },
    ...{ payment_id: `'${mixed}'`, amount: '10', block_hash: `'0xf31'`, block_number: '31', canonical: 'true' },
    ...{ verified: 'true', first_seen_at: 'now()' },
  });
  await forward(mixed, 110, 32, 'f');
  expect(await settleForwards(rows.db, caip2, { at: [32] }, [])).toEqual([]);
  await received(mixed, 50, 33, 'f');
  await rows.run(`update payments set amount_confirmed = 60 where id = '${mixed}'`);
  await holding(1, 60);
  await settleForwards(rows.db, caip2, { at: [] }, [{ accountId: account, environment: 'sandbox', id: mixed }]);
  const [row] = await rows.read(`select amount_forwarded::int as forwarded from payments where id = '${mixed}'`);
  expect(row, '50 of 60 are held').toEqual({ forwarded: 10 });
});

test('a payment of another chain is neither locked nor moved by a forward of this one', async () => {
  // The lock with which its own chain decides about it.
  const elsewhere = await rows.payment(account, { amount_received: '10', amount_confirmed: '10', caip2: `'eip155:1'` });
  await block(3, 'c');
  await forward(elsewhere, 10, 3, 'c');
  await rows.db.transaction(async other => {
    await other.query({ name: '', text: `select from payments where id = '${elsewhere}' for no key update` });
    await rows.db.transaction(async tx => {
      await tx.query({ name: '', text: `set local lock_timeout = '1s'` });
      await settleForwards(tx, caip2, { from: 3 }, []);
    });
  });
  expect(await held()).toEqual([]);
});

test('totals of one kind that cannot be folded stop no other kind', async () => {
  const own = { account_id: `'${account}'`, environment: `'sandbox'`, currency: `'USDC'`, network: `'base'` };
  const hour = `'2026-01-31T12:00:00Z'`;
  await rows.insert('payment_deltas', { ...own, status: `'pending'`, hour, change: '-1' });
  await rows.insert('volume_deltas', { ...own, decimals: '6', day: `'2026-01-31'`, count: '1', amount: '5' });
  await holding(1, 5);
  await expect(foldTotals(rows.db, 1_000)).rejects.toMatchObject({ code: refusal.check });
  const left = (table: string) => rows.read(`select count::int from ${table} where account_id = '${account}'`);
  expect(await rows.read('select change from payment_deltas')).toEqual([{ change: -1 }]);
  expect(await left('volume_totals')).toEqual([{ count: 1 }]);
  expect(await left('holding_totals')).toEqual([{ count: 1 }]);
  await rows.run(`delete from payment_deltas where account_id = '${account}'`);
});
