import type { Payment } from '../../../src/core/api/payment.ts';
import { shownConfirmations } from '../../../src/core/payment/finality.ts';
import { groupedAmount } from '../kit/money.tsx';

type Count = { readonly current: number; readonly required: number | null };

export const confirmationsText = (count: Count): string => {
  const shown = groupedAmount(String(shownConfirmations(count)));
  return count.required === null ? shown : `${shown} of ${groupedAmount(String(count.required))}`;
};

/** Order ID 1042 becomes "Order 1042". An order ID that begins with "order" stays as it is. */
const orderText = (externalId: string): string => (/^order\b/i.test(externalId) ? externalId : `Order ${externalId}`);

/** The name of the payment for the merchant: its order ID, description or payment ID. */
export const nameOf = ({ externalId, description, id }: Pick<Payment, 'externalId' | 'description' | 'id'>): string =>
  externalId === null ? (description ?? id) : orderText(externalId);

export const tabTitleOf = (payment: Payment): string =>
  `${groupedAmount(payment.amount)} ${payment.currency} · ${nameOf(payment)} – Florin`;
