import { beforeAll, expect, test } from 'vitest';
import { advancePayments } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { readPayments } from '../../src/storage/payments/payments.ts';
import type { Written } from '../api/listingScene.ts';
import { startCoinScene } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

/** As the owner of the tables, past all guards. */
const unguarded = (sql: string): Promise<void> =>
  quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

test.each([
  [
    'orphaned',
    (id: string) => `update transfers set canonical = false where payment_id = '${id}'`,
    (id: string) => `update transfers set canonical = true where payment_id = '${id}'`,
  ],
  [
    'deleted',
    (id: string) => `create table hidden as select * from transfers where payment_id = '${id}';
      delete from transfers where payment_id = '${id}'`,
    () => 'insert into transfers select * from hidden; drop table hidden',
  ],
  [
    'moved to another payment',
    (id: string, other: string) => `update transfers set payment_id = '${other}' where payment_id = '${id}'`,
    (id: string, other: string) => `update transfers set payment_id = '${id}' where payment_id = '${other}'`,
  ],
])('coin of a transfer that was %s while the balance was read is not credited twice', async (what, hide, show) => {
  const watched = await startCoinScene(quiet);
  const { chain, payments, turn } = watched;
  const [other, payment] = (await payments(2)) as [Written, Written];
  const key = (
    await quiet.read<{ accountId: string }>(`select account_id as "accountId" from payments where id = '${payment.id}'`)
  )[0]!;
  const scope = { ...key, environment: 'sandbox' } as const;
  const decided = async (): Promise<unknown> => {
    const keys = [{ ...scope, id: payment.id }];
    const { failed, payments: decidedOn } = await watched.context.db.transaction(tx =>
      advancePayments(watched.context, tx, keys, { whenLocked: 'wait' }),
    );
    return failed[0]?.error ?? decidedOn[0]!.row.amountReceived;
  };
  await chain.mine(20);
  await turn();
  // Half of what it asks for.
  await chain.block({ to: payment.address, value: 1n });
  await chain.mine(2);
  await turn();
  expect(await decided()).toBe('1');

  await unguarded(hide(payment.id, other.id));
  await decided();
  await chain.mine(1);
  await turn();
  // A block that is called orphaned and is not contradicts the branches of its chain, which is noticed at once.
  if (what === 'orphaned') expect(await decided()).toBeInstanceOf(TamperedPayment);
  else expect(await decided(), 'the coin is there, and counts once').toBe('1');
  await unguarded(show(payment.id, other.id));
  expect(await decided()).toBeInstanceOf(TamperedPayment);
  expect(await quiet.read(`select amount_received::text, status from payments where id = '${payment.id}'`)).toEqual([
    { amount_received: '1', status: 'pending' },
  ]);
  const [row] = await readPayments(watched.context.listDb, [{ scope, id: payment.id }]);
  await expect(async () => readShownRow(watched.context, row!)).rejects.toBeInstanceOf(TamperedPayment);
  const notices = watched.said('transfers of a payment do not match their seals');
  expect(notices.at(-1)!.fields).toMatchObject({ forged: 'transfers', paymentId: payment.id });
});
