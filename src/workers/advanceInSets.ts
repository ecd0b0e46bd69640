import type { PaymentKey } from '../core/paymentKey.ts';
import type { Context } from '../engine/context.ts';
import { advancePayments } from '../engine/payments/advancePayment.ts';
import { isUnavailable } from '../storage/database.ts';
import { wakeLater } from '../storage/payments/duePayments.ts';

/** Payments per transaction. */
const setSize = 200;
const postponeSeconds = 60;

type Failure = { key: PaymentKey; error: unknown };
type Advanced = { written: number; failed: readonly Failure[] };

const advanceTogether = (context: Context, keys: readonly PaymentKey[]): Promise<Advanced> =>
  context.db.transaction(tx => advancePayments(context, tx, keys, { whenLocked: 'skip' }));

/** The database does not say which row it refused, so each payment is tried alone. Only the faulty one fails. */
const advanceOneByOne = async (context: Context, keys: readonly PaymentKey[]): Promise<Advanced> => {
  let written = 0;
  const failed: Failure[] = [];
  for (const key of keys) {
    try {
      const advanced = await advanceTogether(context, [key]);
      written += advanced.written;
      failed.push(...advanced.failed);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failed.push({ key, error });
    }
  }
  return { written, failed };
};

const advanceSet = async (context: Context, keys: readonly PaymentKey[]): Promise<Advanced> => {
  try {
    return await advanceTogether(context, keys);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return advanceOneByOne(context, keys);
  }
};

const postpone = async (context: Context, failed: readonly Failure[]): Promise<void> => {
  for (const { key, error } of failed) {
    const { id: paymentId, accountId } = key;
    context.log.error({ paymentId, accountId, postponeSeconds, err: error }, 'a due payment could not be advanced');
  }
  const keys = failed.map(({ key }) => key);
  if (keys.length > 0) await wakeLater(context.db, keys, postponeSeconds);
};

/** Advances due payments, several per transaction. Returns how many were written or postponed. */
export const advanceInSets = async (
  context: Context,
  due: readonly PaymentKey[],
  signal?: AbortSignal,
): Promise<number> => {
  let moved = 0;
  const failed: Failure[] = [];
  for (let at = 0; at < due.length && !signal?.aborted; at += setSize) {
    const advanced = await advanceSet(context, due.slice(at, at + setSize));
    moved += advanced.written + advanced.failed.length;
    failed.push(...advanced.failed);
  }
  await postpone(context, failed);
  return moved;
};
