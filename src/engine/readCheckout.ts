import type { CheckoutView } from '../core/checkoutView.ts';
import type { Environment } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { createRecentMap, type RecentMap } from '../core/recentMap.ts';
import { type CheckoutRow, readCheckouts, readCheckoutVersions, type WantedCheckout } from '../storage/checkouts.ts';
import { createBatcher } from './batch.ts';
import { type Circumstances, checkoutViewOf } from './checkoutView.ts';
import type { Context } from './context.ts';
import { noSuchPayment } from './readPayment.ts';

/** A page, and the origins that may show it in a frame. */
export type Checkout = {
  readonly view: CheckoutView;
  readonly origins: readonly string[];
  /** One version of its row, and the circumstances of then: the page is the same as long as these are. */
  readonly basis: Circumstances & { readonly version: string };
};

/** A page that is asked for by somebody who may have it already, of whatever time. */
export type KnownCheckout = WantedCheckout & { readonly known?: Checkout };

export type CheckoutReader = {
  /** Fails with `TamperedPayment` for a row that does not carry our seal; the log has the alarm by then. */
  read(wanted: WantedCheckout): Promise<Checkout>;
  /**
   * All of them as they are now, in as few statements as that takes. What a caller brings is not made again if it is still
   * the same: more pages can be open than are kept here.
   */
  readAll(wanted: readonly KnownCheckout[]): Promise<(Checkout | Error)[]>;
};

const maxItems = 200;
const maxKeptBytes = 16 * 1024 * 1024;

/** With what the map and the objects themselves need. */
const keptBytes = (_id: string, { view }: Checkout): number => {
  const texts = [view.description, view.redirectUrl, view.supportContact];
  const characters = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return 3_000 + 2 * characters + 400 * view.transactions.length;
};

type Placed = Pick<CheckoutView, 'environment' | 'status'> & { readonly slug: string; readonly expiresAtMs: number };

/** The circumstances at one moment, of whatever payments. */
const readCircumstances = async (context: Context): Promise<(payment: Placed) => Circumstances> => {
  const quickOf = async (environment: Environment): Promise<ReadonlySet<string>> => {
    const measured = await context.networks.list(environment);
    return new Set(measured.filter(({ status }) => status === 'operational').map(({ network }) => network.slug));
  };
  const [production, sandbox] = await Promise.all([quickOf('production'), quickOf('sandbox')]);
  const quick: Readonly<Record<Environment, ReadonlySet<string>>> = { production, sandbox };
  const nowMs = context.clock.nowMs();
  return ({ environment, status, slug, expiresAtMs }) => ({
    isSlow: !quick[environment].has(slug),
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
  kept: RecentMap<Checkout>,
  row: CheckoutRow,
  circumstances: Circumstances,
): Checkout | Error => {
  try {
    const basis = { ...circumstances, version: row.version };
    const checkout: Checkout = { view: checkoutViewOf(context, row, circumstances), origins: row.origins, basis };
    kept.set(row.id, checkout);
    return checkout;
  } catch (error) {
    kept.delete(row.id);
    return error as Error;
  }
};

/** As payments are read: what is kept is asked for its version, and only what is another is read and verified again. */
const readFlight = async (
  context: Context,
  kept: RecentMap<Checkout>,
  wanted: readonly KnownCheckout[],
): Promise<(Checkout | Error)[]> => {
  const circumstancesOf = await readCircumstances(context);
  const answers: (Checkout | Error | null)[] = [];
  const [asked, known, changed]: [number[], Checkout[], number[]] = [[], [], []];
  for (let at = 0; at < wanted.length; at++) {
    answers.push(null);
    const checkout = kept.get(wanted[at]!.id) ?? wanted[at]!.known;
    if (!checkout) changed.push(at);
    else {
      asked.push(at);
      known.push(checkout);
    }
  }
  const versions = await readCheckoutVersions(
    context.db,
    asked.map(at => wanted[at]!),
  );
  for (let i = 0; i < asked.length; i++) {
    const { basis, view } = known[i]!;
    if (versions[i] === null) continue;
    const now = circumstancesOf(placeOfView(view));
    const isSame = versions[i] === basis.version && now.isSlow === basis.isSlow && now.isOver === basis.isOver;
    if (isSame) answers[asked[i]!] = known[i]!;
    else changed.push(asked[i]!);
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

export const createCheckoutReader = (context: Context, keptBytesAtMost = maxKeptBytes): CheckoutReader => {
  const kept = createRecentMap<Checkout>(keptBytesAtMost, keptBytes);
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
