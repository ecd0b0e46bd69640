import { shownConfirmations } from '../../../src/core/payment/finality.ts';
import { groupedAmount } from '../kit/money.tsx';
import type { ShownPayment } from './shownPayment.ts';

type Count = { readonly current: number; readonly required: number | null };

export const confirmationsText = (count: Count): string => {
  const shown = groupedAmount(String(shownConfirmations(count)));
  return count.required === null ? shown : `${shown} of ${groupedAmount(String(count.required))}`;
};

/** "Order 1042" of the order id 1042; an order id that says so itself is left as it is. */
const orderText = (externalId: string): string => (/^order\b/i.test(externalId) ? externalId : `Order ${externalId}`);

/** What the merchant knows the payment by. */
export const nameOf = ({
  externalId,
  description,
  id,
}: Pick<ShownPayment, 'externalId' | 'description' | 'id'>): string =>
  externalId === null ? (description ?? id) : orderText(externalId);

export const tabTitleOf = (payment: ShownPayment): string =>
  `${groupedAmount(payment.amount)} ${payment.currency} · ${nameOf(payment)} – Florin`;
