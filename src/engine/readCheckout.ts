import type { CheckoutView } from '../core/checkoutView.ts';
import { environments } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { createRecentMap, type RecentMap } from '../core/recentMap.ts';
import { type CheckoutRow, readCheckouts, readCheckoutVersions, type WantedCheckout } from '../storage/checkouts.ts';
import { createBatcher } from './batch.ts';
import { type Circumstances, checkoutViewOf } from './checkoutView.ts';
import type { Context } from './context.ts';
import { noSuchPayment } from './readPayment.ts';

/** A page, and the origins that may show it in a frame. */
export type Checkout = { readonly view: CheckoutView; readonly origins: readonly string[] };

export type CheckoutReader = {
  /** Fails with `TamperedPayment` for a row that does not carry our seal; the log has the alarm by then. */
  read(wanted: WantedCheckout): Promise<Checkout>;
  /** All of them as they are now, in as few statements as that takes. */
  readAll(wanted: readonly WantedCheckout[]): Promise<(Checkout | Error)[]>;
};

const maxItems = 200;
const maxKeptBytes = 16 * 1024 * 1024;

/** Made from one version of its row, and in the circumstances of then. */
type Kept = Circumstances & { readonly version: string; readonly checkout: Checkout };

/** With what the map and the objects themselves need. */
const keptBytes = (_id: string, { checkout: { view } }: Kept): number =>
  3_000 + 2 * (view.description?.length ?? 0) + 2 * (view.redirectUrl?.length ?? 0) + 400 * view.transactions.length;

type Placed = Pick<CheckoutView, 'environment' | 'status'> & { readonly slug: string; readonly expiresAtMs: number };

/** The circumstances at one moment, of whatever payments. */
const readCircumstances = async (context: Context): Promise<(payment: Placed) => Circumstances> => {
  const measured = await Promise.all(environments.map(environment => context.networks.list(environment)));
  const quick = new Set(
    measured
      .flat()
      .filter(({ status }) => status === 'operational')
      .map(({ network }) => `${network.environment}/${network.slug}`),
  );
  const nowMs = context.clock.nowMs();
  return ({ environment, status, slug, expiresAtMs }) => ({
    isSlow: !quick.has(`${environment}/${slug}`),
    isOver: status === 'pending' && nowMs >= expiresAtMs,
  });
};

const placeOfView = ({ environment, status, network, expiresAtMs }: CheckoutView): Placed => ({
  environment,
  status,
  slug: network.slug,
  expiresAtMs,
});
const placeOfRow = ({ environment, status, network, expiresAt }: CheckoutRow): Placed => ({
  environment,
  status,
  slug: network,
  expiresAtMs: expiresAt.getTime(),
});

/** A row that was tampered with is its own page's error, and no one else's. */
const present = (
  context: Context,
  kept: RecentMap<Kept>,
  row: CheckoutRow,
  circumstances: Circumstances,
): Checkout | Error => {
  try {
    const checkout: Checkout = { view: checkoutViewOf(context, row, circumstances), origins: row.origins };
    kept.set(row.id, { ...circumstances, version: row.version, checkout });
    return checkout;
  } catch (error) {
    kept.delete(row.id);
    return error as Error;
  }
};

/** As payments are read: what is kept is asked for its version, and only what is another is read and verified again. */
const readFlight = async (
  context: Context,
  kept: RecentMap<Kept>,
  wanted: readonly WantedCheckout[],
): Promise<(Checkout | Error)[]> => {
  const circumstancesOf = await readCircumstances(context);
  const answers: (Checkout | Error | null)[] = wanted.map(() => null);
  const known = wanted.map(({ id }) => kept.get(id));
  const positions = wanted.map((_, position) => position);
  const asked = positions.filter(position => known[position]);
  const changed = positions.filter(position => !known[position]);
  const versions = await readCheckoutVersions(
    context.db,
    asked.map(at => wanted[at]!),
  );
  for (const [i, position] of asked.entries()) {
    const { version, isSlow, isOver, checkout } = known[position]!;
    if (versions[i] === null) continue;
    const now = circumstancesOf(placeOfView(checkout.view));
    const isSame = versions[i] === version && now.isSlow === isSlow && now.isOver === isOver;
    if (isSame) answers[position] = checkout;
    else changed.push(position);
  }
  for (let from = 0; from < changed.length; from += maxItems) {
    const part = changed.slice(from, from + maxItems);
    const rows = await readCheckouts(
      context.db,
      part.map(at => wanted[at]!),
    );
    for (const [i, row] of rows.entries()) {
      if (row) answers[part[i]!] = present(context, kept, row, circumstancesOf(placeOfRow(row)));
    }
  }
  return answers.map(answer => answer ?? noSuchPayment());
};

export const createCheckoutReader = (context: Context): CheckoutReader => {
  const kept = createRecentMap<Kept>(maxKeptBytes, keptBytes);
  const readAll: CheckoutReader['readAll'] = wanted => readFlight(context, kept, wanted);
  const read = createBatcher<WantedCheckout, Checkout>({
    maxItems,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many requests are waiting. Try again shortly.'),
    run: readAll,
  });
  return {
    read: wanted => (isId('payment', wanted.id) ? read(wanted) : Promise.reject(noSuchPayment())),
    readAll,
  };
};
