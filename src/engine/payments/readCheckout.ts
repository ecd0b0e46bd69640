import type { CheckoutView } from '../../core/checkoutView.ts';
import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { createRecentMap, type RecentMap } from '../../core/recentMap.ts';
import {
  type CheckoutRow,
  readCheckouts,
  readCheckoutVersions,
  type WantedCheckout,
} from '../../storage/payments/checkouts.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';
import { type Circumstances, checkoutViewOf } from './checkoutView.ts';
import { noSuchPayment } from './readPayment.ts';

/** A page and the origins that may show it in a frame. */
export type Checkout = {
  readonly view: CheckoutView;
  readonly origins: readonly string[];
  /** The version of the row and the circumstances at that time. The page is the same while these are. */
  readonly basis: Circumstances & { readonly version: string };
};

/** A request for a page by a caller that may have an older copy of it. */
export type KnownCheckout = WantedCheckout & { readonly known?: Checkout };

export type CheckoutReader = {
  /** Rejects with `TamperedPayment` if the row does not match its seal, after logging it. */
  read(wanted: WantedCheckout): Promise<Checkout>;
  /**
   * Reads all pages in as few statements as possible. A page that the caller has is not built again if it is unchanged:
   * more pages can be open than the cache holds.
   */
  readAll(wanted: readonly KnownCheckout[]): Promise<(Checkout | Error)[]>;
};

const maxItems = 200;
const maxKeptBytes = 16 * 1024 * 1024;

/** Includes the overhead of the map and the objects. */
const weightOf = (_id: string, { view }: Checkout): number => {
  const texts = [view.description, view.redirectUrl, view.supportContact];
  const characters = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return 3_000 + 2 * characters + 400 * view.transactions.length;
};

type CircumstanceInput = Pick<CheckoutView, 'environment' | 'status'> & {
  readonly slug: string;
  readonly expiresAtMs: number;
};

/** The circumstances of any payment at one moment. */
const readCircumstances = async (context: Context): Promise<(payment: CircumstanceInput) => Circumstances> => {
  const operationalIn = async (environment: Environment): Promise<ReadonlySet<string>> => {
    const measured = await context.networks.list(environment);
    return new Set(measured.filter(({ status }) => status === 'operational').map(({ network }) => network.slug));
  };
  const [production, sandbox] = await Promise.all([operationalIn('production'), operationalIn('sandbox')]);
  const operational: Readonly<Record<Environment, ReadonlySet<string>>> = { production, sandbox };
  const nowMs = context.clock.nowMs();
  return ({ environment, status, slug, expiresAtMs }) => ({
    isSlow: !operational[environment].has(slug),
    isOver: status === 'pending' && nowMs >= expiresAtMs,
  });
};

const inputOfView = ({ environment, status, network, expiresAtMs }: CheckoutView): CircumstanceInput => ({
  environment,
  status,
  slug: network.slug,
  expiresAtMs,
});
const inputOfRow = ({ environment, status, network, expiresAt }: CheckoutRow): CircumstanceInput => ({
  environment,
  status,
  slug: network,
  expiresAtMs: expiresAt.getTime(),
});

/** A tampered row fails its own page only. */
const present = (
  context: Context,
  cache: RecentMap<Checkout>,
  row: CheckoutRow,
  circumstances: Circumstances,
): Checkout | Error => {
  try {
    const basis = { ...circumstances, version: row.version };
    const checkout: Checkout = { view: checkoutViewOf(context, row, circumstances), origins: row.origins, basis };
    cache.set(row.id, checkout);
    return checkout;
  } catch (error) {
    cache.delete(row.id);
    return error as Error;
  }
};

/** As for payments: the version of a cached page is checked, and only changed rows are read and verified again. */
const readBatch = async (
  context: Context,
  cache: RecentMap<Checkout>,
  wanted: readonly KnownCheckout[],
): Promise<(Checkout | Error)[]> => {
  const circumstancesOf = await readCircumstances(context);
  const answers: (Checkout | Error | null)[] = [];
  const [checked, checkouts, changed]: [number[], Checkout[], number[]] = [[], [], []];
  for (let at = 0; at < wanted.length; at++) {
    answers.push(null);
    const checkout = cache.get(wanted[at]!.id) ?? wanted[at]!.known;
    if (!checkout) changed.push(at);
    else {
      checked.push(at);
      checkouts.push(checkout);
    }
  }
  const versions = await readCheckoutVersions(
    context.db,
    checked.map(at => wanted[at]!),
  );
  for (let i = 0; i < checked.length; i++) {
    const { basis, view } = checkouts[i]!;
    if (versions[i] === null) continue;
    const now = circumstancesOf(inputOfView(view));
    const isSame = versions[i] === basis.version && now.isSlow === basis.isSlow && now.isOver === basis.isOver;
    if (isSame) answers[checked[i]!] = checkouts[i]!;
    else changed.push(checked[i]!);
  }
  for (let from = 0; from < changed.length; from += maxItems) {
    const part = changed.slice(from, from + maxItems);
    const rows = await readCheckouts(
      context.db,
      part.map(at => wanted[at]!),
    );
    for (const [i, row] of rows.entries()) {
      if (row) answers[part[i]!] = present(context, cache, row, circumstancesOf(inputOfRow(row)));
    }
  }
  return answers.map(answer => answer ?? noSuchPayment());
};

export const createCheckoutReader = (context: Context, maxBytes = maxKeptBytes): CheckoutReader => {
  const cache = createRecentMap<Checkout>(maxBytes, weightOf);
  const readAll: CheckoutReader['readAll'] = wanted => readBatch(context, cache, wanted);
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
