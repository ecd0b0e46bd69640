import type { PaymentKey } from '../../core/paymentKey.ts';
import { isRowFault, type Queryable } from '../../storage/database.ts';
import { wakeLater } from '../../storage/payments/duePayments.ts';
import type { Context } from '../context.ts';
import { advancePayments } from './advancePayment.ts';

const retrySeconds = 60;
const savepoint = { name: 'advance-savepoint', text: 'savepoint advance' };
const release = { name: 'advance-release', text: 'release savepoint advance' };
const undo = { name: 'advance-undo', text: 'rollback to savepoint advance' };

type Failure = { readonly key: PaymentKey; readonly error: unknown };

/** Null if the database refused a row; then nothing was written. */
const tryTogether = async (context: Context, tx: Queryable, keys: readonly PaymentKey[]): Promise<Failure[] | null> => {
  await tx.query(savepoint);
  try {
    const { failed } = await advancePayments(context, tx, keys, { whenLocked: 'wait' });
    await tx.query(release);
    return [...failed];
  } catch (error) {
    if (!isRowFault(error)) throw error;
    await tx.query(undo);
    if (keys.length === 1) return [{ key: keys[0]!, error }];
    return null;
  }
};

/**
 * Decides the payments that a block touches, in the caller's transaction. A payment that cannot be decided must not
 * stop its chain: its transfers are written, the fault is logged, and it is tried again later. It is found by halving.
 */
export const advanceWithin = async (context: Context, tx: Queryable, keys: readonly PaymentKey[]): Promise<void> => {
  const failed: Failure[] = [];
  const advance = async (some: readonly PaymentKey[]): Promise<void> => {
    const failures = await tryTogether(context, tx, some);
    if (failures !== null) return void failed.push(...failures);
    const middle = some.length >> 1;
    await advance(some.slice(0, middle));
    await advance(some.slice(middle));
  };
  if (keys.length > 0) await advance(keys);
  for (const { key, error } of failed) {
    const { id: paymentId, accountId } = key;
    context.log.error({ paymentId, accountId, err: error }, 'a payment that received funds could not be advanced');
  }
  if (failed.length > 0) {
    await wakeLater(
      tx,
      failed.map(({ key }) => key),
      retrySeconds,
    );
  }
};
