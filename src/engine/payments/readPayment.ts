import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { createRecentMap, type RecentMap } from '../../core/recentMap.ts';
import {
  type PaymentRow,
  readPayments,
  readPaymentVersions,
  type ShownPayment,
  type VersionedPayment,
} from '../../storage/payments/payments.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';
import { assertNoneMissing } from './fundsSeal.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { type Funds, fundsOf } from './paymentFacts.ts';
import { type PaymentObject, paymentObject, printPayment, viewOfRow } from './paymentObject.ts';

export const noSuchPayment = (): FlorinError => new FlorinError('not_found', 'No payment has this id.');

/** The payment object of a stored row. Throws if the row was tampered with. */
export const readPaymentRow = (context: Context, row: PaymentRow, funds: Funds): PaymentObject => {
  assertAuthentic(context, row);
  assertNoneMissing(context, row, funds.transfers);
  return paymentObject(viewOfRow(context, row, funds), context.environments[row.environment]);
};

export const readShownRow = (context: Context, row: ShownPayment): PaymentObject =>
  readPaymentRow(context, row, fundsOf(context, row));

/** Larger payments are read each time instead of filling the cache. */
const maxCachedBytes = 8_192;
const maxKeptBytes = 64 * 1024 * 1024;

type KeptPayment = { version: string; body: Buffer };

/** Includes the overhead of the map. */
const weightOf = (id: string, { version, body }: KeptPayment): number =>
  300 + 2 * (id.length + version.length) + body.length;

type Wanted = { scope: Scope; id: string };

/**
 * Pending payments are read again and again. Each response is cached with the version of its row. The database is asked
 * every time, but only for the version, and for the row if the version changed.
 */
const readBatch = async (
  context: Context,
  cache: RecentMap<KeptPayment>,
  wanted: readonly Wanted[],
): Promise<(Buffer | Error)[]> => {
  const answers: (Buffer | Error | null)[] = wanted.map(() => null);
  const positions = wanted.map((_, position) => position);
  const cached = wanted.map(({ id }) => cache.get(id));
  const checked = positions.filter(position => cached[position]);
  const versions = await readPaymentVersions(
    context.db,
    checked.map(at => wanted[at]!),
  );
  const changed = positions.filter(position => !cached[position]);
  checked.forEach((position, i) => {
    if (versions[i] === cached[position]!.version) answers[position] = cached[position]!.body;
    else if (versions[i] !== null) changed.push(position);
  });
  const rows = await readPayments(
    context.db,
    changed.map(at => wanted[at]!),
  );
  rows.forEach((row, i) => {
    if (row) answers[changed[i]!] = present(context, cache, row);
  });
  // Errors are expensive because of their stack, so they are created only if needed.
  return answers.map(answer => answer ?? noSuchPayment());
};

/** A tampered row fails its own request only. */
const present = (context: Context, cache: RecentMap<KeptPayment>, row: VersionedPayment): Buffer | Error => {
  try {
    const body = Buffer.from(printPayment(readShownRow(context, row)));
    if (body.length <= maxCachedBytes) cache.set(row.id, { version: row.version, body });
    else cache.delete(row.id);
    return body;
  } catch (error) {
    return error as Error;
  }
};

export const createPaymentReader = (context: Context): ((scope: Scope, id: string) => Promise<Buffer>) => {
  const cache = createRecentMap<KeptPayment>(maxKeptBytes, weightOf);
  const read = createBatcher<Wanted, Buffer>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    run: wanted => readBatch(context, cache, wanted),
  });
  return (scope, id) => (isId('payment', id) ? read({ scope, id }) : Promise.reject(noSuchPayment()));
};
