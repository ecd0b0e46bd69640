import type { SealedPayment } from '../../storage/payments/payments.ts';
import { paymentSealValues } from '../../storage/payments/sealedPayments.ts';
import type { Vault } from '../../vault/vault.ts';

export const sealPayment = (vault: Vault, payment: SealedPayment): Buffer =>
  vault.rowSeal('payments', paymentSealValues(payment));

/** Whether Florin wrote the row so: its terms, its state and its sums. */
export const isPaymentSealed = (vault: Vault, row: SealedPayment & { readonly seal: Buffer | null }): boolean =>
  row.seal !== null && vault.isRowSeal('payments', paymentSealValues(row), row.seal);
