import { FlorinError, invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { cancelRefusal, resolveRefusal } from '../../core/payment/refusals.ts';
import { tally } from '../../core/payment/tally.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import type { Work } from '../perform.ts';
import { type Act, type AdvancedPayment, advancePayment } from './advancePayment.ts';
import { noSuchPayment } from './readPayment.ts';

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

const deeds = { cancel: 'payment.canceled', resolve: 'payment.resolved' } as const;

/** Cancels a payment, or accepts what it has received. */
export const actOnPayment =
  (context: Context, id: string, act: MerchantAct): Work<AdvancedPayment> =>
  async (tx, { scope, trace }) => {
    const traced = { act: actOf(act), trace };
    const advanced = isId('payment', id) ? await advancePayment(context, tx, scope, id, traced) : null;
    if (!advanced) throw noSuchPayment();
    return { value: advanced, deed: { action: deeds[act.kind], subject: id, detail: {} } };
  };
