import type { Scope } from '../core/environment.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { formatAmount, parseAmount } from '../core/money.ts';
import { cancelRefusal, resolveRefusal } from '../core/payment/refusals.ts';
import { tally } from '../core/payment/tally.ts';
import type { Queryable } from '../storage/database.ts';
import type { PaymentRow } from '../storage/payments.ts';
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

/** The received sum that the caller has seen, as they gave it. */
const expectedOf = (text: string, { decimals, currency }: PaymentRow): bigint => {
  const parsed = parseAmount(text, decimals);
  if (parsed.ok) return parsed.units;
  const why = {
    format: 'must be a positive number written as a plain decimal, for example "12.50"',
    zero: 'must be a positive number',
    precision: `has too many fractional digits: ${currency} has ${decimals}`,
    too_large: 'is too large. It must be at most 10^30',
  }[parsed.problem];
  throw invalid('expectedAmount', `expectedAmount ${why}.`);
};

/** Accepts the sum received so far as the whole payment, if it is the one that the caller expects. */
const resolve =
  (expectedAmount: string | undefined): Act =>
  (facts, nowMs, row) => {
    const expected = expectedAmount === undefined ? null : expectedOf(expectedAmount, row);
    const refusal = resolveRefusal(facts);
    if (refusal) throw new FlorinError('conflict', refusal);
    const { received } = tally(facts);
    if (expected !== null && expected !== received) {
      const sum = `${formatAmount(received, row.decimals)} ${row.currency}`;
      const message = `The payment has received ${sum}, which is not the expectedAmount. Nothing was accepted.`;
      throw new FlorinError('conflict', message);
    }
    return { accepted: { amount: received, at: nowMs } };
  };

/** `expectedAmount`: what the caller takes amountReceived to be. */
export type MerchantAct = { readonly kind: 'cancel' } | { readonly kind: 'resolve'; readonly expectedAmount?: string };

const actOf = (act: MerchantAct): Act => (act.kind === 'cancel' ? cancel : resolve(act.expectedAmount));

/** Acts in the caller's transaction. Returns the payment object. */
export const actOnPayment = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
  act: MerchantAct,
): Promise<string> => {
  const advanced = isId('payment', id) ? await advancePayment(context, tx, scope, id, actOf(act)) : null;
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
): Promise<Answer> => perform(context, scope, id, idempotency, { kind: 'cancel' });

export const resolvePayment = (
  context: Context,
  scope: Scope,
  id: string,
  request: { readonly expectedAmount?: string },
  idempotency: IdempotentRequest | null,
): Promise<Answer> => perform(context, scope, id, idempotency, { kind: 'resolve', ...request });
