import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WatchedBlock } from '../../src/core/chain.ts';
import { applyBlocks, rollBackAsDecided } from '../../src/engine/chain/applyBlocks.ts';
import { applyCoins } from '../../src/engine/chain/applyCoins.ts';
import { applyReread } from '../../src/engine/chain/applyReread.ts';
import { detectRestore } from '../../src/engine/chain/restores.ts';
import { advancePayments } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { readPaymentTimeline } from '../../src/engine/payments/paymentTimeline.ts';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { verifySeals } from '../../src/engine/seals/verifySeals.ts';
import { readAgain } from '../../src/storage/chain/addressChecks.ts';
import { insertBaselines, refreshBaselines } from '../../src/storage/chain/baselines.ts';
import { ForgedBlock } from '../../src/storage/chain/blockSeals.ts';
import {
  allChains,
  haltChain,
  type Lease,
  readChains,
  resumeChain,
  takeLease,
  writeCoinsCaughtUp,
  writeIdle,
} from '../../src/storage/chain/chains.ts';
import { insertLostAddresses, takeEpoch, unknownEpochs } from '../../src/storage/chain/restores.ts';
import { readPayments } from '../../src/storage/payments/payments.ts';
import { ForgedRow } from '../../src/storage/seals.ts';
import type { Written } from '../api/listingScene.ts';
import type { TestAccount } from '../support/florin.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, chainState, contract, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
let account: TestAccount;
let paid: Written;
let other: Written;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const transaction = `0x${'7'.repeat(64)}`;
const forwardOf = (payment: Written, block: WatchedBlock, verified = true) => ({
  key: `${block.hash}:out:${payment.address}`,
  txHash: block.hash,
  from: payment.address,
  contract: null,
  amount: 3n,
  verified,
});

/** One payment received one base unit, and the other nothing. */
beforeEach(async () => {
  lease = await beginAnew(quiet.context.db);
  quiet.errors.length = 0;
  const made = await quiet.overdue(2, contract);
  account = made.account;
  [paid, other] = made.written as [Written, Written];
  const blocks = makeBlocks(genesis, 'a', 6, { 3: [{ to: paid.address, amount: 1n, tx: transaction }] });
  await applyBlocks(quiet.context, lease, stepOf(blocks.slice(0, 1)));
  await applyBlocks(quiet.context, lease, stepOf(blocks.slice(1), null, 1));
});

/** As the owner of the tables, past all guards. */
const forge = (sql: string): Promise<void> =>
  quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

const tables = [
  'chains',
  'blocks',
  'transfers',
  'forwards',
  'address_baselines',
  'derivation_epochs',
  'lost_addresses',
];
const problems = async (): Promise<string[]> =>
  (await verifySeals(quiet.scene.admin)).problems.filter(problem => tables.includes(problem.split(' ')[0]!));

const scope = () => ({ accountId: account.id, environment: 'sandbox' }) as const;
const decided = async ({ id }: Written): Promise<unknown> => {
  const key = { ...scope(), id };
  const { failed, payments } = await quiet.context.db.transaction(tx =>
    advancePayments(quiet.context, tx, [key], { whenLocked: 'wait' }),
  );
  return failed[0]?.error ?? payments[0]!.row.status;
};
const shown = async ({ id }: Written) =>
  readShownRow(quiet.context, (await readPayments(quiet.context.listDb, [{ scope: scope(), id }]))[0]!);

const coinIn = (block: WatchedBlock, to: string): WatchedBlock => {
  const key = `${block.hash}:delta:${to}:1`;
  const movement = { key, txHash: null, from: null, to, contract: null, amount: 1n, verified: true };
  return { ...block, movements: [movement], forwards: [] };
};

test('everything that Florin writes of chains matches its seals', async () => {
  const { context } = quiet;
  const [coins] = (await quiet.overdue(1)).written as [Written];
  const at = makeBlocks(genesis, 'a', 6);
  await applyCoins(context, lease, [coinIn(at[4]!, coins.address)]);
  // A reorg moves the transaction to another block and takes the coin, which then arrives again, and again in the first one.
  const branch = makeBlocks(at[2]!, 'b', 5, { 4: [{ to: paid.address, amount: 1n, tx: transaction }] });
  await applyBlocks(context, lease, stepOf(branch, at[2]!));
  await applyCoins(context, lease, [coinIn(branch[2]!, coins.address)]);
  await applyBlocks(context, lease, stepOf(makeBlocks(at[2]!, 'a', 6), at[2]!));
  await applyCoins(context, lease, [coinIn(at[4]!, coins.address)]);
  // Unverified at first.
  const [late] = makeBlocks({ number: 8, hash: hashOf('a', 8) }, 'a', 1, { 9: [{ to: paid.address, amount: 2n }] });
  const doubted = {
    ...late!,
    movements: late!.movements.map(each => ({ ...each, verified: false })),
    forwards: [forwardOf(other, late!, false)],
  };
  await applyBlocks(context, lease, stepOf([doubted]));
  await applyReread(context, lease, [{ ...late!, forwards: [forwardOf(other, late!)] }]);
  const counts = `select count(*) filter (where superseded)::int as superseded, count(*) filter (where verified)::int as verified,
      count(*)::int as "all" from transfers`;
  expect(await quiet.read(counts)).toEqual([{ superseded: 1, verified: 5, all: 5 }]);
  const seen = await quiet.read(
    `select count(distinct first_seen_at)::int as times, count(*)::int as rows from transfers where tx_hash = '${transaction}'`,
  );
  expect(seen, 'a transaction was first seen once').toEqual([{ times: 1, rows: 2 }]);
  const { db, vault } = context;
  const baseline = { blockNumber: 3, readAt: new Date() };
  const balances = [{ address: '0x01', amount: 5n }];
  await insertBaselines(db, vault, caip2, { ...baseline, balances });
  await refreshBaselines(db, vault, caip2, { ...baseline, balances: [{ address: '0x01', amount: 7n }] });
  const origin = { walletKind: 'forwarder', treasury: '0x02', index: 3n } as const;
  await insertLostAddresses(db, vault, [{ ...scope(), ...origin, address: `lost of ${account.id}` }]);
  await db.transaction(tx => takeEpoch(tx, { above: 0, mark: 1, holder: 'test' }));
  await writeIdle(db, lease, { safe: 2, finalized: 1, agreed: 3 }, new Date());
  await writeCoinsCaughtUp(db, lease, new Date());
  await haltChain(db, lease, 'a test');
  await resumeChain(db, caip2, 5);
  await rollBackAsDecided(context, lease, 5);
  expect(await problems()).toEqual([]);
});

describe('a transfer that a reorganization took', () => {
  const first = () => makeBlocks(genesis, 'a', 6, { 3: [{ to: paid.address, amount: 1n, tx: transaction }] });
  /** The block with the transfer is gone, and the payment knows. */
  beforeEach(async () => {
    const at = first();
    expect(await decided(paid)).toBe('completed');
    await applyBlocks(quiet.context, lease, stepOf(makeBlocks(at[2]!, 'b', 7), at[2]!));
    expect(await decided(paid)).toBe('reversed');
  });
  /** What the role of the service may do, too: the foreign key makes the transfers follow. */
  const putBack = () =>
    quiet.scene.tamper(`update blocks set canonical = false where number = 3 and canonical;
      update blocks set canonical = true where number = 3 and hash = '${hashOf('a', 3)}'`);

  test('pays nothing when somebody puts its block back', async () => {
    await putBack();
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
    await expect(shown(paid)).rejects.toBeInstanceOf(TamperedPayment);
    const branch = { number: 9, hash: hashOf('b', 9) };
    await applyBlocks(quiet.context, lease, stepOf(makeBlocks(branch, 'b', 2)));
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
  });

  test('pays again when the chain brings its block back', async () => {
    const at = first();
    await applyBlocks(quiet.context, lease, stepOf([...at.slice(3), ...makeBlocks(at[5]!, 'a', 6)], at[2]!));
    expect(await decided(paid)).toBe('completed');
    expect((await shown(paid)).status).toBe('completed');
    expect(await quiet.read(`select lost_transfers from payments where id = '${paid.id}'`)).toEqual([
      { lost_transfers: null },
    ]);
    expect(await problems()).toEqual([]);
  });

  test('pays again when its block is read again after it came back without the payment', async () => {
    const at = first();
    // The payment could not be decided in the step that brought the block back.
    await forge(`update payments set status = 'confirming' where id = '${paid.id}'`);
    await applyBlocks(quiet.context, lease, stepOf([...at.slice(3), ...makeBlocks(at[5]!, 'a', 6)], at[2]!));
    await forge(`update payments set status = 'reversed' where id = '${paid.id}'`);
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
    await applyReread(quiet.context, lease, [at[3]!]);
    expect(await decided(paid)).toBe('completed');
  });
});

describe('a transfer that was changed in the database', () => {
  test.each([
    ['its amount', `update transfers set amount = 10`],
    ['whether it was verified', `update transfers set verified = false`],
    ['when it was seen', `update transfers set first_seen_at = first_seen_at - interval '1 day'`],
    ['its sender', `update transfers set sender = '0x1'`],
    ['its transaction', `update transfers set tx_hash = '0x1'`],
    ['its key', `update transfers set key = key || '0'`],
    ['the time of its block', `update blocks set timestamp = timestamp - interval '1 day'`],
    ['its seal', `update transfers set row_seal = null`],
    ['a block that is not on the chain', `update blocks set canonical = false`],
    ['its token', `update transfers set contract = null`],
    ['whether it counts', `update transfers set stray = true, settled = false`],
    ['a second one', `insert into transfers select (jsonb_populate_record(t, '{"key": "second"}')).* from transfers t`],
  ])('%s: decides nothing, is not shown, and is told', async (_, sql) => {
    expect(await shown(paid)).toMatchObject({ transactions: [{ blockNumber: 3 }] });
    await forge(`${sql}; update payments set strayed = true where id = '${paid.id}'`);
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
    await expect(shown(paid)).rejects.toThrow('a transfer of the payment does not match its seal');
    await expect(readPaymentTimeline(quiet.context, scope(), paid.id)).rejects.toBeInstanceOf(TamperedPayment);
    expect(quiet.errors.map(({ message }) => message)).toContain('transfers of a payment do not match their seals');
    // Whoever changed only the transfer has changed nothing for other payments.
    expect(await decided(other)).toBe('pending');
  });

  test('nor does one that was moved to another payment pay it', async () => {
    await forge(`update transfers set payment_id = '${other.id}'; update payments set detected = true`);
    expect(await decided(other)).toBeInstanceOf(TamperedPayment);
    await expect(shown(other)).rejects.toBeInstanceOf(TamperedPayment);
  });

  test('is not verified by reading its block again', async () => {
    const [late] = makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 1, { 6: [{ to: paid.address, amount: 2n }] });
    const movements = late!.movements.map(each => ({ ...each, verified: false }));
    const forwards = [forwardOf(other, late!, false)];
    await applyBlocks(quiet.context, lease, stepOf([{ ...late!, movements, forwards }]));
    await forge('update transfers set amount = 20 where not verified; update forwards set amount = 20');
    await applyReread(quiet.context, lease, [{ ...late!, forwards: [forwardOf(other, late!)] }]);
    expect(await quiet.read('select amount::text from transfers where not verified')).toEqual([{ amount: '20' }]);
    expect(await quiet.read('select amount::text from forwards where not verified')).toEqual([{ amount: '20' }]);
    expect(quiet.errors.map(({ fields }) => fields.keys)).toContainEqual([forwards[0]!.key, movements[0]!.key]);
  });
});

describe('a block that was changed in the database', () => {
  const kept = makeBlocks(genesis, 'a', 6)[3]!;
  const branch = makeBlocks(kept, 'b', 4);

  test.each([
    ['its hash', `update blocks set hash = '${hashOf('x', 3)}' where number = 3`],
    ['its parent', `update blocks set parent_hash = '0x1' where number = 3`],
    ['its time', `update blocks set timestamp = timestamp - interval '1 day' where number = 3`],
    ['its height', `delete from blocks where number = 3; update blocks set number = 3 where number = 2`],
  ])('%s: is no base of a rollback, of coin, or of an operator’s decision', async (_, sql) => {
    await forge(sql);
    const before = await chainState(quiet);
    const told = 'run florin doctor, and restore the database from a backup';
    await expect(applyBlocks(quiet.context, lease, stepOf(branch, kept))).rejects.toThrow(told);
    await expect(rollBackAsDecided(quiet.context, lease, 3)).rejects.toBeInstanceOf(ForgedBlock);
    await expect(applyCoins(quiet.context, lease, [coinIn(kept, other.address)])).rejects.toBeInstanceOf(ForgedBlock);
    expect(await chainState(quiet)).toEqual(before);
  });
});

describe('a chain whose record was changed in the database', () => {
  test.each([
    ['what is final', 'finalized_number = 4'],
    ['what its nodes agree on', 'agreed_number = 2'],
    ['its newest block', `latest_hash = '0x1'`],
    ['when it was read', `caught_up_at = now() + interval '1 day'`],
    ['a rollback', 'rollback_to = 1'],
    ['its seal', 'row_seal = null'],
  ])('%s: stands still, and payments on it are not decided', async (_, assignment) => {
    await forge(`update chains set ${assignment}`);
    const { db } = quiet.context;
    const next = makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 1);
    await expect(applyBlocks(quiet.context, lease, stepOf(next))).rejects.toBeInstanceOf(ForgedRow);
    await expect(readChains(db, [caip2])).rejects.toBeInstanceOf(ForgedRow);
    await expect(writeIdle(db, lease, { safe: 1, finalized: 1, agreed: 1 }, null)).rejects.toBeInstanceOf(ForgedRow);
    await expect(takeLease(db, { caip2, holder: 'test', seconds: 1 })).rejects.toBeInstanceOf(ForgedRow);
    expect(await allChains(db)).toEqual([]);
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
    await expect(shown(paid)).rejects.toThrow('the chain of the payment does not match its seal');
    expect(await problems()).toEqual([`chains ${caip2} was changed in the database`]);
  });

  test('who has the lease is no part of it', async () => {
    await forge(`update chains set lease_holder = null, lease_until = null`);
    expect(await takeLease(quiet.context.db, { caip2, holder: 'other', seconds: 1 })).toMatchObject({
      latestNumber: 5,
    });
  });

  test('nor is the record of another chain its own', async () => {
    await takeLease(quiet.context.db, { caip2: 'eip155:5', holder: 'test', seconds: 1 });
    await forge(
      `update chains c set row_seal = o.row_seal from chains o where c.caip2 = '${caip2}' and o.caip2 <> c.caip2`,
    );
    expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
  });
});

describe('coin that is missing according to a record that was changed', () => {
  const forgedOf = async ({ id }: Written): Promise<boolean> =>
    (await readAgain(quiet.context.db, quiet.context.vault, caip2, [id]))[0]!.isForged;

  test.each([
    ['a forward', 'update forwards set amount = 30'],
    ['a forward of another payment', `update forwards set payment_id = 'ID'`],
    ['a transfer', 'update transfers set amount = 1 where contract is null'],
    [
      'a forward by hand',
      `insert into forwards select (jsonb_populate_record(t, '{"key": "second"}')).* from forwards t`,
    ],
  ])('%s: is not searched for', async (_, sql) => {
    const [coins, more] = (await quiet.overdue(2)).written as [Written, Written];
    const coming = { 6: [{ to: coins.address, amount: 5n, contract: null }] };
    const [block] = makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 1, coming);
    await applyBlocks(quiet.context, lease, stepOf([{ ...block!, forwards: [forwardOf(coins, block!)] }]));
    expect([await forgedOf(coins), await forgedOf(more)]).toEqual([false, false]);
    await forge(sql.replace('ID', more.id));
    expect([await forgedOf(coins), await forgedOf(more)]).toContain(true);
  });

  test.each([
    ['lowered', 'update address_baselines set amount = 0'],
    ['read earlier', `update address_baselines set read_at = read_at - interval '1 day'`],
    ['of another address', `update address_baselines set address = 'ADDRESS'`],
  ])('a baseline that was %s', async (_, sql) => {
    const { db, vault } = quiet.context;
    const [coins, more] = (await quiet.overdue(2)).written as [Written, Written];
    for (const { id } of [coins, more]) await quiet.tamper(id, `wallet_kind = 'xpub'`);
    const balances = [{ address: coins.address, amount: 5n }];
    await insertBaselines(db, vault, caip2, { balances, blockNumber: 1, readAt: new Date() });
    expect([await forgedOf(coins), await forgedOf(more)]).toEqual([false, false]);
    await forge(
      `delete from address_baselines where address <> '${coins.address}'; ${sql.replace('ADDRESS', more.address)}`,
    );
    expect([await forgedOf(coins), await forgedOf(more)]).toContain(true);
  });
});

test('an epoch that somebody else wrote into the database hides no restore', async () => {
  const epoch = { number: 5, mark: 9 };
  await forge(`insert into derivation_epochs (number, mark, holder) values (5, 9, 'thief') on conflict do nothing`);
  expect(await unknownEpochs(quiet.context.db, [epoch])).toEqual([epoch]);
  expect(await detectRestore(quiet.scene.admin, [epoch], quiet.context.log)).toBe('production');
});
