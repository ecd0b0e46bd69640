import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { type PaymentRow, readPayments } from '../storage/payments.ts';
import { createBatcher } from './batch.ts';
import type { Context } from './context.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { renderPayment, viewOfRow } from './paymentObject.ts';

export const noSuchPayment = (): FlorinError => new FlorinError('not_found', 'No payment has this id.');

/** The payment object of a stored row, refused if the row was tampered with. */
export const presentPayment = (context: Context, row: PaymentRow): string => {
  assertAuthentic(context, row);
  return renderPayment(viewOfRow(row), context.environments[row.environment]);
};

export const createPaymentReader = (context: Context): ((scope: Scope, id: string) => Promise<string>) => {
  const read = createBatcher<{ scope: Scope; id: string }, PaymentRow | null>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    async run(wanted) {
      const rows = await readPayments(context.db, wanted);
      const found = new Map(rows.map(row => [`${row.accountId}/${row.environment}/${row.id}`, row]));
      return wanted.map(w => found.get(`${w.scope.accountId}/${w.scope.environment}/${w.id}`) ?? null);
    },
  });
  return async (scope, id) => {
    if (!isId('payment', id)) throw noSuchPayment();
    const row = await read({ scope, id });
    if (!row) throw noSuchPayment();
    return presentPayment(context, row);
  };
};
