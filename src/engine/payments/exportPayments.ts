import { csvLine } from '../../core/csv.ts';
import type { Scope } from '../../core/environment.ts';
import { formatAmount } from '../../core/money.ts';
import { type PaymentSearch, paymentsBelow } from '../../storage/payments/listPayments.ts';
import type { CreditedPayment } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import type { Work } from '../perform.ts';
import { assertGenuineTransfers, assertNoneMissing } from './fundsSeal.ts';
import { hasValidSeal, TamperedPayment } from './paymentAddress.ts';

/** Few enough that checking the seals of a page takes milliseconds, so that requests are served in between. */
const pageRows = 500;

const columns = [
  'id',
  'status',
  'exception',
  'network',
  'currency',
  'amount',
  'amountReceived',
  'amountConfirmed',
  'address',
  'externalId',
  'description',
  'createdAt',
  'expiresAt',
  'completedAt',
  'canceledAt',
] as const;

const lineOf = (row: CreditedPayment): string => {
  const amount = (units: string): string => formatAmount(BigInt(units), row.decimals);
  return csvLine([
    row.id,
    row.status,
    row.exception,
    row.network,
    row.currency,
    amount(row.amount),
    amount(row.amountReceived),
    amount(row.amountConfirmed),
    row.address,
    row.externalId,
    row.description,
    row.createdAt.toISOString(),
    row.expiresAt.toISOString(),
    row.completedAt?.toISOString() ?? null,
    row.canceledAt?.toISOString() ?? null,
  ]);
};

/** Whether the payment has what it says that it received: an earlier row, from before a reorganization, has its seal. */
const hasItsFunds = (context: Context, row: CreditedPayment): boolean => {
  const transfers = row.transfers ?? [];
  try {
    assertGenuineTransfers(context, row, transfers);
    assertNoneMissing(context, row, transfers);
    return true;
  } catch (error) {
    if (error instanceof TamperedPayment) return false;
    throw error;
  }
};

/**
 * A tampered row is exported as its id and `tampered`: leaving it out would make the file look complete. Its seal covers
 * address, treasury and index. Deriving each address again takes a millisecond for extended keys: a page would block
 * everything else for a second, and evict cached addresses in use.
 */
const verifiedLine = (context: Context, row: CreditedPayment): string => {
  if (!hasValidSeal(context, row)) {
    context.log.error(
      { forged: 'payments', paymentId: row.id, accountId: row.accountId },
      'a payment does not match its seal',
    );
  } else if (hasItsFunds(context, row)) return lineOf(row);
  return csvLine([row.id, 'tampered', ...columns.slice(2).map(() => null)]);
};

/** Page by page, each of its own moment: no transaction stays open as long as somebody downloads. */
export async function* csvOfPayments(context: Context, scope: Scope, filter: PaymentSearch): AsyncGenerator<string> {
  const db = await context.exportSource.open(scope.accountId);
  yield csvLine(columns);
  for (let below: string | null = null; ; ) {
    const rows: CreditedPayment[] = await paymentsBelow(db, scope, filter, { below, limit: pageRows });
    if (rows.length > 0) yield rows.map(row => verifiedLine(context, row)).join('');
    if (rows.length < pageRows) return;
    below = rows.at(-1)!.id;
  }
}

/** Before the first byte: who took how much of what is known as soon as it is possible. */
export const recordExport =
  (filter: PaymentSearch): Work<null> =>
  async () => ({ value: null, deed: { action: 'payments.exported', subject: null, detail: { ...filter } } });
