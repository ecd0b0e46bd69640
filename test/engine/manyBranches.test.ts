import { beforeAll, beforeEach, expect, test } from 'vitest';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import type { Context } from '../../src/engine/context.ts';
import { advancePayments } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import type { Lease } from '../../src/storage/chain/chains.ts';
import type { Queryable, Row } from '../../src/storage/database.ts';
import type { Written } from '../api/listingScene.ts';
import type { TestAccount } from '../support/florin.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, contract, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

const many = 2_000;
const paidBlocks = 3;

let quiet: QuietScene;
let lease: Lease;
let account: TestAccount;
let paid: readonly Written[];
/** The branches that were read and the seals that were checked. */
let read: number;
let checked: number;
/** A process of its own, which has seen nothing. */
let context: Context;

const startProcess = (): Context => {
  const { vault } = quiet.context;
  const isRowSeal: typeof vault.isRowSeal = (kind, ...rest) => {
    if (kind === 'chain_branches') checked += 1;
    return vault.isRowSeal(kind, ...rest);
  };
  return { ...quiet.context, vault: { ...vault, isRowSeal } };
};
const decided = (): Promise<unknown[]> =>
  quiet.context.db.transaction(async tx => {
    [read, checked] = [0, 0];
    const query = async <R extends Row>(...asked: Parameters<Queryable['query']>): Promise<R[]> => {
      const rows = await tx.query<R & { branches?: readonly unknown[] }>(...asked);
      for (const { branches } of rows) read += branches?.length ?? 0;
      return rows;
    };
    const keys = paid.map(({ id }) => ({ accountId: account.id, environment: 'sandbox' as const, id }));
    const { payments, failed } = await advancePayments(context, { ...tx, query }, keys, { whenLocked: 'wait' });
    return [...payments.map(({ row }) => row.status), ...failed.map(({ error }) => error)];
  });
const completed = Array.from({ length: paidBlocks }, () => 'completed');

/** As the owner of the tables, past all guards, with the seals that Florin would give. */
const write = async (sql: string): Promise<void> => {
  await quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);
  await sealRows(quiet.context, { all: true, tables: name => name === 'chains' || name === 'chain_branches' });
};

beforeAll(async () => {
  quiet = await startQuietScene();
});

/** Payments of the first branch, an hour ago. Many branches came since and took nothing. */
beforeEach(async () => {
  context = startProcess();
  lease = await beginAnew(quiet.context.db);
  const made = await quiet.overdue(paidBlocks, contract);
  account = made.account;
  paid = made.written;
  const coming = Object.fromEntries(paid.map(({ address: to }, at) => [at + 1, [{ to, amount: 3n }]]));
  const { clock } = quiet.context;
  const earlier = { ...quiet.context, clock: { ...clock, nowMs: () => clock.nowMs() - 3_600_000 } };
  await applyBlocks(earlier, lease, stepOf(makeBlocks(genesis, 'a', 9, coming), null, 5));
  await write(`insert into chain_branches (caip2, number, previous, above)
      select caip2, number + i, number + i - 1, 8 from chain_branches, generate_series(1, ${many}) i order by i;
    update chains c set branch = g.number from (select max(number) as number from chain_branches) g`);
});

test('each branch is read and checked once, however many payments there are', async () => {
  expect(await decided()).toEqual(completed);
  expect([read, checked]).toEqual([many + 1, many + 1]);
  expect(await decided()).toEqual(completed);
  expect([read, checked]).toEqual([0, 0]);
});

test('of branches that another process began since, only these are read', { tags: ['thorough'] }, async () => {
  await decided();
  lease = { ...lease };
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks({ number: 8, hash: hashOf('a', 8) }, 'a', 1)));
  expect(await decided()).toEqual(completed);
  // The transaction that began it could still be open.
  expect(await decided()).toEqual(completed);
  expect([read, checked]).toEqual([1, 1]);
});

test('a process that knows branches which a failover lost goes on with those that there are', {
  tags: ['thorough'],
}, async () => {
  await decided();
  await write(`delete from chain_branches where number > (select min(number) + ${many} - 2 from chain_branches);
    update chains c set branch = g.number from (select max(number) as number from chain_branches) g`);
  expect(await decided()).toEqual(completed);
  expect(await decided()).toEqual(completed);
  expect([read, checked]).toEqual([0, 0]);
});

test('a process remembers nothing that is not genuine', async () => {
  await quiet.scene.tamper(`set session_replication_role = replica;
    update chain_branches set above = 9 where number = (select min(number) + 1 from chain_branches);
    set session_replication_role = origin`);
  for (let round = 0; round < 2; round++) {
    for (const error of await decided()) expect(error).toBeInstanceOf(TamperedPayment);
  }
});

test('a block whose branch somebody changed refuses its payment alone', async () => {
  await expect(quiet.scene.tamper('update blocks set branch = -1 where number = 1')).rejects.toThrow('check');
  await quiet.scene.tamper(`alter table blocks drop constraint blocks_branch_check;
    update blocks set branch = -1 where number = 1`);
  const [first, second, third] = await decided();
  expect([first, second]).toEqual(['completed', 'completed']);
  expect(third).toBeInstanceOf(TamperedPayment);
});
