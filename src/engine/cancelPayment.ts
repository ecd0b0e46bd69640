import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { cancelRefusal, resolveRefusal } from '../core/payment/refusals.ts';
import { tally } from '../core/payment/tally.ts';
import { type Act, advancePayment } from './advancePayment.ts';
import type { Context } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently } from './idempotency.ts';
import { noSuchPayment, presentPayment } from './readPayment.ts';

const act = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
  action: Act,
): Promise<Answer> => {
  if (!isId('payment', id)) throw noSuchPayment();
  return idempotently(context, scope, idempotency, async tx => {
    const advanced = await advancePayment(context, tx, scope, id, action);
    if (!advanced) throw noSuchPayment();
    return { body: presentPayment(context, advanced.row, advanced.funds) };
  });
};

/** Calls a payment off: only while it is pending and nothing has arrived. */
export const cancelPayment = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> =>
  act(context, scope, id, idempotency, (facts, nowMs) => {
    const refusal = cancelRefusal(facts);
    if (refusal) throw new FlorinError('conflict', refusal);
    return { canceledAt: nowMs };
  });

/** Accepts the sum received so far as the whole payment. */
export const resolvePayment = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> =>
  act(context, scope, id, idempotency, (facts, nowMs) => {
    const refusal = resolveRefusal(facts);
    if (refusal) throw new FlorinError('conflict', refusal);
    return { accepted: { amount: tally(facts).received, at: nowMs } };
  });
