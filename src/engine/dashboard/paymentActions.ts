import type { PaymentObject } from '../../core/dashboard/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { readPaymentTerms } from '../../storage/accounts.ts';
import { insertPayments } from '../../storage/insertPayments.ts';
import { readPayments } from '../../storage/payments.ts';
import { actOnPayment, type MerchantAct } from '../cancelPayment.ts';
import type { Context } from '../context.ts';
import { createPaymentCreator, type PaymentRequest } from '../createPayment.ts';
import { noSuchPayment, shownPaymentBody } from '../readPayment.ts';
import { type SimulatedOutcome, simulatePayment } from '../simulatePayment.ts';
import { type By, entryBy, recordAudit } from './audit.ts';

/** Creates a payment as the API does, with an audit row in the same transaction. */
export const createPaymentAs = async (
  context: Context,
  scope: Scope,
  request: PaymentRequest,
  by: By,
): Promise<PaymentObject> => {
  const terms = await readPaymentTerms(context.db, scope);
  if (!terms) throw new FlorinError('not_found', 'This account has no such environment.');
  const create = createPaymentCreator(context, row =>
    context.db.transaction(async tx => {
      const outcome = (await insertPayments(tx, [row])).get(row.id)!;
      if (outcome.kind !== 'written') return outcome;
      const { amount, currency, network } = request;
      const detail = { amount, currency, network };
      await recordAudit(
        context,
        tx,
        entryBy(by, scope.environment, { action: 'payment.created', subject: row.id, detail }),
      );
      return outcome;
    }),
  );
  return JSON.parse((await create(terms, request, null)).body) as PaymentObject;
};

const pastTense = { cancel: 'payment.canceled', resolve: 'payment.resolved' } as const;

export const actOnPaymentAs = (
  context: Context,
  scope: Scope,
  id: string,
  act: MerchantAct,
  by: By,
): Promise<PaymentObject> =>
  context.db.transaction(async tx => {
    const body = await actOnPayment(context, tx, scope, id, act);
    const done = { action: pastTense[act.kind], subject: id, detail: {} };
    await recordAudit(context, tx, entryBy(by, scope.environment, done));
    return JSON.parse(body) as PaymentObject;
  });

/** Only on the local chain. The audit row is written first, because the chain takes part in no transaction. */
export const simulatePaymentAs = async (
  context: Context,
  scope: Scope,
  id: string,
  outcome: SimulatedOutcome,
  by: By,
): Promise<PaymentObject> => {
  const record = (): Promise<void> =>
    context.db.transaction(tx =>
      recordAudit(
        context,
        tx,
        entryBy(by, scope.environment, { action: 'payment.simulated', subject: id, detail: { outcome } }),
      ),
    );
  await simulatePayment(context, scope, id, outcome, null, record);
  const [row] = await readPayments(context.db, [{ scope, id }]);
  if (!row) throw noSuchPayment();
  return JSON.parse(shownPaymentBody(context, row)) as PaymentObject;
};
