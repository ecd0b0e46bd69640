import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { cancelRefusal, resolveRefusal } from '../core/payment/refusals.ts';
import { tally } from '../core/payment/tally.ts';
import type { Queryable } from '../storage/database.ts';
import { type Act, advancePayment } from './advancePayment.ts';
import type { Context } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently } from './idempotency.ts';
import { noSuchPayment, paymentBody } from './readPayment.ts';

/** Cancels a payment. Only while it is pending and nothing has arrived. */
const cancel: Act = (facts, nowMs) => {
  const refusal = cancelRefusal(facts);
  if (refusal) throw new FlorinError('conflict', refusal);
  return { canceledAt: nowMs };
};

/** Accepts the sum received so far as the whole payment. */
const resolve: Act = (facts, nowMs) => {
  const refusal = resolveRefusal(facts);
  if (refusal) throw new FlorinError('conflict', refusal);
  return { accepted: { amount: tally(facts).received, at: nowMs } };
};

const merchantActs = { cancel, resolve } as const;
export type MerchantAct = keyof typeof merchantActs;

/** Acts in the caller's transaction. Returns the payment object. */
export const actOnPayment = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
  act: MerchantAct,
): Promise<string> => {
  const advanced = isId('payment', id) ? await advancePayment(context, tx, scope, id, merchantActs[act]) : null;
  if (!advanced) throw noSuchPayment();
  return paymentBody(context, advanced.row, advanced.funds);
};

const perform = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
  act: MerchantAct,
): Promise<Answer> => {
  if (!isId('payment', id)) throw noSuchPayment();
  return idempotently(context, scope, idempotency, async tx => ({
    body: await actOnPayment(context, tx, scope, id, act),
  }));
};

export const cancelPayment = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => perform(context, scope, id, idempotency, 'cancel');

export const resolvePayment = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => perform(context, scope, id, idempotency, 'resolve');
