import type { Environment } from '../../core/environment.ts';
import type { Queryable } from '../database.ts';
import { sealsOf } from '../seals.ts';
import { rowVersion, type ShownPayment, shownPaymentColumns } from './payments.ts';

/** Names a checkout page. Anybody who has the id may see it, in its own environment. */
export type WantedCheckout = { readonly environment: Environment; readonly id: string };

/** A payment with the merchant details that its page shows. */
export type CheckoutRow = ShownPayment & {
  readonly version: string;
  /** The account's brand name, or its name if it has none. */
  readonly merchantName: string;
  readonly brandAccent: string | null;
  readonly brandLogoName: string | null;
  /** Origins that may show the page in a frame. */
  readonly origins: readonly string[];
  /** An e-mail address or an https URL. */
  readonly supportContact: string | null;
};

/**
 * Joined into text, because the driver searches each array element twice for characters to escape. No value has a
 * comma.
 */
const wantedColumns = (wanted: readonly WantedCheckout[]): string[] => [
  wanted.map(({ environment }) => environment).join(),
  wanted.map(({ id }) => id).join(),
];

/** The version of the account and settings rows. A page's version is this and its payment's. */
const merchantVersion = 'a.xmin::text || a.ctid::text || s.xmin::text || s.ctid::text';

/** The cast to an enum hides the array lengths from the planner, which would otherwise plan every batch again. */
const wantedRows = `unnest(string_to_array($1, ',')::environment[], string_to_array($2, ','))
      with ordinality as wanted(environment, id, position)`;

/** A lookup for each wanted row, so that no plan reads the whole table, whatever its statistics say. */
const isWanted = 'p.id = wanted.id and p.environment = wanted.environment limit 1';

const readCheckoutsStatement = {
  name: 'checkouts-read',
  text: `select wanted.position::int, found.* from ${wantedRows} cross join lateral (
      select ${merchantVersion} || ${rowVersion}, coalesce(s.brand_name, a.name) as "merchantName",
        s.brand_accent as "brandAccent", s.brand_logo_name as "brandLogoName", s.checkout_origins as origins,
        s.support_contact as "supportContact", ${shownPaymentColumns},
        ${sealsOf({ a: 'accounts', s: 'account_settings' })}
      from payments p
        join accounts a on a.id = p.account_id
        join account_settings s on s.account_id = p.account_id and s.environment = p.environment
      where ${isWanted}) found`,
};
/** Reads many pages in one round trip; null where the environment has no such payment. */
export const readCheckouts = async (
  db: Queryable,
  wanted: readonly WantedCheckout[],
): Promise<(CheckoutRow | null)[]> => {
  const found: (CheckoutRow | null)[] = wanted.map(() => null);
  if (found.length === 0) return found;
  const rows = await db.query<CheckoutRow & { position: number }>(readCheckoutsStatement, wantedColumns(wanted));
  for (const row of rows) {
    // A comma in an id would shift the ids after it, and a payer would see somebody else's payment.
    if (wanted[row.position - 1]?.id !== row.id) throw new Error('a checkout row does not match the requested id');
    found[row.position - 1] = row;
  }
  return found;
};

// All versions in one row, because parsing a row per page costs this process more than joining costs the database. The
// merchant has a join of its own, since most pages share one and the database then caches the lookup.
const readVersionsStatement = {
  name: 'checkouts-versions',
  text: `select array_to_string(array(
      select coalesce(merchant.version || payment.version, '') from ${wantedRows}
        left join lateral (
          select ${rowVersion}, p.account_id, p.environment from payments p where ${isWanted}) payment on true
        left join lateral (
          select ${merchantVersion} as version from accounts a join account_settings s on s.account_id = a.id
          where a.id = payment.account_id and s.environment = payment.environment limit 1) merchant on true
      order by wanted.position), E'\\n') as versions`,
};
/** The versions alone, read several times a second for all open pages. Null where there is no such payment. */
export const readCheckoutVersions = async (
  db: Queryable,
  wanted: readonly WantedCheckout[],
): Promise<(string | null)[]> => {
  if (wanted.length === 0) return [];
  const [row] = await db.query<{ versions: string }>(readVersionsStatement, wantedColumns(wanted));
  return row!.versions.split('\n').map(version => version || null);
};
