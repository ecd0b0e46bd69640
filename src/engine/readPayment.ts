import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { createRecentMap, type RecentMap } from '../core/recentMap.ts';
import {
  type PaymentRow,
  readPayments,
  readPaymentVersions,
  type ShownPayment,
  type VersionedPayment,
} from '../storage/payments.ts';
import { createBatcher } from './batch.ts';
import type { Context } from './context.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { type Funds, fundsOf } from './paymentFacts.ts';
import { renderPayment, viewOfRow } from './paymentObject.ts';

export const noSuchPayment = (): FlorinError => new FlorinError('not_found', 'No payment has this id.');

/** The payment object of a stored row, refused if the row was tampered with. */
export const presentPayment = (context: Context, row: PaymentRow, funds: Funds): string => {
  assertAuthentic(context, row);
  return renderPayment(viewOfRow(context, row, funds), context.environments[row.environment]);
};

export const presentShown = (context: Context, row: ShownPayment): string => presentPayment(context, row, fundsOf(row));

/** A merchant's metadata may be long; one that is costs a reading each time rather than everybody's room. */
const longestKept = 8_192;
const maxKeptBytes = 64 * 1024 * 1024;

type KeptPayment = { version: string; body: Buffer };

/** With what the map itself needs for an entry. */
const keptBytes = (id: string, { version, body }: KeptPayment): number =>
  300 + 2 * (id.length + version.length) + body.length;

type Wanted = { scope: Scope; id: string };

/**
 * Payments are asked for again and again while they are pending. Each answer is kept with the version of the row it was
 * made from; the database is asked every time, but for the version only, and for the row when that is another.
 */
const readFlight = async (
  context: Context,
  kept: RecentMap<KeptPayment>,
  wanted: readonly Wanted[],
): Promise<(Buffer | Error)[]> => {
  const answers: (Buffer | Error | null)[] = wanted.map(() => null);
  const positions = wanted.map((_, position) => position);
  const known = wanted.map(({ id }) => kept.get(id));
  const asked = positions.filter(position => known[position]);
  const versions = await readPaymentVersions(
    context.db,
    asked.map(at => wanted[at]!),
  );
  const changed = positions.filter(position => !known[position]);
  asked.forEach((position, i) => {
    if (versions[i] === known[position]!.version) answers[position] = known[position]!.body;
    else if (versions[i] !== null) changed.push(position);
  });
  const rows = await readPayments(
    context.db,
    changed.map(at => wanted[at]!),
  );
  rows.forEach((row, i) => {
    if (row) answers[changed[i]!] = present(context, kept, row);
  });
  // An error is dear to make, for its stack: only where one is needed.
  return answers.map(answer => answer ?? noSuchPayment());
};

/** A row that was tampered with is its own caller's error, and no one else's. */
const present = (context: Context, kept: RecentMap<KeptPayment>, row: VersionedPayment): Buffer | Error => {
  try {
    const body = Buffer.from(presentShown(context, row));
    if (body.length <= longestKept) kept.set(row.id, { version: row.version, body });
    else kept.delete(row.id);
    return body;
  } catch (error) {
    return error as Error;
  }
};

export const createPaymentReader = (context: Context): ((scope: Scope, id: string) => Promise<Buffer>) => {
  const kept = createRecentMap<KeptPayment>(maxKeptBytes, keptBytes);
  const read = createBatcher<Wanted, Buffer>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    run: wanted => readFlight(context, kept, wanted),
  });
  return (scope, id) => (isId('payment', id) ? read({ scope, id }) : Promise.reject(noSuchPayment()));
};
