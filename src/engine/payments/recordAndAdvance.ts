import type { PaymentKey } from '../../core/paymentKey.ts';
import { isRowFault, type Queryable, untilRefused } from '../../storage/database.ts';
import { wakeLater } from '../../storage/payments/duePayments.ts';
import type { Context } from '../context.ts';
import { advancePayments } from './advancePayment.ts';

const retrySeconds = 60;

type Failure = { readonly key: PaymentKey; readonly error: unknown };
/** Decides payments in a transaction. Returns those that cannot be decided. */
type Advance = (context: Context, tx: Queryable, keys: readonly PaymentKey[]) => Promise<readonly Failure[]>;

/** A row that the database refuses ends the transaction. */
const advanceTogether: Advance = async (context, tx, keys) =>
  (await advancePayments(context, tx, keys, { whenLocked: 'wait' })).failed;

/** Finds a payment whose row the database refuses by halving. Nothing is written for it. */
const advanceWithoutRefused: Advance = async (context, tx, keys) => {
  const failed: Failure[] = [];
  const refusal = await untilRefused(tx, async () => void failed.push(...(await advanceTogether(context, tx, keys))));
  if (refusal === null) return failed;
  if (keys.length === 1) return [{ key: keys[0]!, error: refusal }];
  const middle = keys.length >> 1;
  return [
    ...(await advanceWithoutRefused(context, tx, keys.slice(0, middle))),
    ...(await advanceWithoutRefused(context, tx, keys.slice(middle))),
  ];
};

const retryLater = async ({ log }: Context, tx: Queryable, failed: readonly Failure[]): Promise<void> => {
  if (failed.length === 0) return;
  for (const { key, error } of failed) {
    const { id: paymentId, accountId } = key;
    log.error({ paymentId, accountId, err: error }, 'a payment that received funds could not be advanced');
  }
  await wakeLater(
    tx,
    failed.map(({ key }) => key),
    retrySeconds,
  );
};

/**
 * Runs work that records what a chain shows, and decides the payments which that touches, in one transaction. A payment
 * that cannot be decided must not stop its chain: its transfers are written, the fault is logged, and it is tried again
 * later. Savepoints cost two round trips, so the work runs without them first.
 */
export const recordAndAdvance = async <T>(
  context: Context,
  work: (tx: Queryable, advance: (keys: readonly PaymentKey[]) => Promise<void>) => Promise<T>,
): Promise<T> => {
  const run = (advance: Advance): Promise<T> =>
    context.db.transaction(tx =>
      work(tx, async keys => {
        if (keys.length > 0) await retryLater(context, tx, await advance(context, tx, keys));
      }),
    );
  try {
    return await run(advanceTogether);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    return run(advanceWithoutRefused);
  }
};
