import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { createRecentMap } from '../core/recentMap.ts';
import { type PaymentRow, type ReadPayment, readPayments } from '../storage/payments.ts';
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

/** A merchant's metadata may be long; one that is costs a reading each time rather than everybody's room. */
const longestKept = 8_192;
const maxKeptBytes = 64 * 1024 * 1024;
/** At two bytes a character, with what the map itself needs for an entry. */
const keptBytes = (id: string, { version, body }: KeptPayment): number =>
  200 + 2 * (id.length + version.length + body.length);

type KeptPayment = { version: string; body: string };

/**
 * Payments are asked for again and again while they are pending. Each answer is kept with the version of the row it was
 * made from, and the database, asked every time, sends the row only if it has changed since.
 */
export const createPaymentReader = (context: Context): ((scope: Scope, id: string) => Promise<string>) => {
  const kept = createRecentMap<KeptPayment>(maxKeptBytes, keptBytes);
  const read = createBatcher<{ scope: Scope; id: string; version: string | null }, ReadPayment | null>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    run: wanted => readPayments(context.db, wanted),
  });
  return async (scope, id) => {
    if (!isId('payment', id)) throw noSuchPayment();
    const known = kept.get(id);
    const found = await read({ scope, id, version: known?.version ?? null });
    if (!found) throw noSuchPayment();
    if (!found.row) return known!.body;
    const body = presentPayment(context, found.row);
    if (body.length <= longestKept) kept.set(id, { version: found.version, body });
    else kept.delete(id);
    return body;
  };
};
