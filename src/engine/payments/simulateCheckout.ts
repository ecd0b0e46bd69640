import { FlorinError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import type { SimulatedOutcome } from '../../core/payment/simulatedOutcomes.ts';
import { readCheckouts, type WantedCheckout } from '../../storage/payments/checkouts.ts';
import type { Context } from '../context.ts';
import { canSimulate } from './checkoutView.ts';
import { noSuchPayment } from './readPayment.ts';
import { simulatePayment } from './simulatePayment.ts';

/** The outcomes a payer can simulate. A reorg needs an API key. */
export const payerOutcomes = [
  'paid',
  'underpaid',
  'overpaid',
  'late',
  'wrong_token',
] as const satisfies SimulatedOutcome[];
export type PayerOutcome = (typeof payerOutcomes)[number];

/** Simulates a payment for a checkout page. The token proves that the page belongs to the payment. */
export const simulateCheckout = async (
  context: Context,
  wanted: WantedCheckout,
  { token, outcome }: { token: string; outcome: PayerOutcome },
): Promise<void> => {
  const [row] = isId('payment', wanted.id) ? await readCheckouts(context.db, [wanted]) : [];
  if (!row || !canSimulate(context, row)) throw noSuchPayment();
  if (!context.vault.verifySimulateToken(row.id, token)) {
    throw new FlorinError('permission_denied', 'The token is not valid for this payment.');
  }
  await simulatePayment(context, row, row.id, outcome, null);
};
