import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { readCheckouts, type WantedCheckout } from '../storage/checkouts.ts';
import { canSimulate } from './checkoutView.ts';
import type { Context } from './context.ts';
import { noSuchPayment } from './readPayment.ts';
import { type SimulatedOutcome, simulatePayment } from './simulatePayment.ts';

/** What a payer can bring about. Reorganising the chain is for those who have a key. */
export const payersOutcomes = [
  'paid',
  'underpaid',
  'overpaid',
  'late',
  'wrong_token',
] as const satisfies SimulatedOutcome[];
export type PayersOutcome = (typeof payersOutcomes)[number];

/** Pretends to pay on behalf of a page, which shows by its token that it is this payment's. */
export const simulateCheckout = async (
  context: Context,
  wanted: WantedCheckout,
  { token, outcome }: { token: string; outcome: PayersOutcome },
): Promise<void> => {
  const [row] = isId('payment', wanted.id) ? await readCheckouts(context.db, [wanted]) : [];
  if (!row || !canSimulate(context, row)) throw noSuchPayment();
  if (!context.vault.verifySimulateToken(row.id, token)) {
    throw new FlorinError('permission_denied', 'This token is not the one of this payment.');
  }
  await simulatePayment(context, row, row.id, outcome, null);
};
