import { beforeAll, beforeEach, expect, test } from 'vitest';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { applyReread } from '../../src/engine/chain/applyReread.ts';
import { advancePayments } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { verifySeals } from '../../src/engine/seals/verifySeals.ts';
import type { Lease } from '../../src/storage/chain/chains.ts';
import { readPayments } from '../../src/storage/payments/payments.ts';
import type { Written } from '../api/listingScene.ts';
import type { TestAccount } from '../support/florin.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, contract, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
let account: TestAccount;
let paid: Written;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const scope = () => ({ accountId: account.id, environment: 'sandbox' }) as const;
const decided = async ({ id }: Written): Promise<unknown> => {
  const { failed, payments } = await quiet.context.db.transaction(tx =>
    advancePayments(quiet.context, tx, [{ ...scope(), id }], { whenLocked: 'wait' }),
  );
  return failed[0]?.error ?? payments[0]!.row.status;
};
const shown = async ({ id }: Written) =>
  readShownRow(quiet.context, (await readPayments(quiet.context.listDb, [{ scope: scope(), id }]))[0]!);
const first = () => makeBlocks(genesis, 'a', 6, { 3: [{ to: paid.address, amount: 1n }] });

/** The payment was completed, and a reorganization took the block with its transfer. */
beforeEach(async () => {
  lease = await beginAnew(quiet.context.db);
  const made = await quiet.overdue(1, contract);
  account = made.account;
  [paid] = made.written as [Written];
  const at = first();
  await applyBlocks(quiet.context, lease, stepOf(at.slice(0, 1)));
  await applyBlocks(quiet.context, lease, stepOf(at.slice(1), null, 1));
  expect(await decided(paid)).toBe('completed');
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(at[2]!, 'b', 7), at[2]!));
  expect(await decided(paid)).toBe('reversed');
});

/** As the owner of the tables, past all guards. */
const forge = (sql: string): Promise<void> =>
  quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

/** What the role of the service may do, too: the foreign key makes the transfers follow. */
const putBack = () =>
  quiet.scene.tamper(`update blocks set canonical = false where number = 3 and canonical;
    update blocks set canonical = true where number = 3 and hash = '${hashOf('a', 3)}'`);

test('a transfer that a reorganization took pays nothing when somebody puts its block back', async () => {
  await putBack();
  expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
  await expect(shown(paid)).rejects.toBeInstanceOf(TamperedPayment);
  const branch = { number: 9, hash: hashOf('b', 9) };
  await applyBlocks(quiet.context, lease, stepOf(makeBlocks(branch, 'b', 2)));
  expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
});

test('a transfer that a reorganization took pays again when the chain brings its block back', async () => {
  const at = first();
  await applyBlocks(quiet.context, lease, stepOf([...at.slice(3), ...makeBlocks(at[5]!, 'a', 6)], at[2]!));
  expect(await decided(paid)).toBe('completed');
  expect((await shown(paid)).status).toBe('completed');
  expect(await quiet.read(`select lost_transfers from payments where id = '${paid.id}'`)).toEqual([
    { lost_transfers: null },
  ]);
  expect((await verifySeals(quiet.scene.admin)).problems).toEqual([]);
});

test('a transfer that a reorganization took pays again when its block is read again after it came back without the payment', async () => {
  const at = first();
  // The payment could not be decided in the step that brought the block back.
  await forge(`update payments set status = 'confirming' where id = '${paid.id}'`);
  await applyBlocks(quiet.context, lease, stepOf([...at.slice(3), ...makeBlocks(at[5]!, 'a', 6)], at[2]!));
  await forge(`update payments set status = 'reversed' where id = '${paid.id}'`);
  expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
  await applyReread(quiet.context, lease, [at[3]!]);
  expect(await decided(paid)).toBe('completed');
});
