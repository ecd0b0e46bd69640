import type { Environment } from '../core/environment.ts';
import type { Queryable } from './database.ts';
import { rowVersion, type ShownPayment, shownPaymentColumns } from './payments.ts';

/** A page as it is asked for: whoever has the id may see it, within one environment. */
export type WantedCheckout = { readonly environment: Environment; readonly id: string };

/** A payment with what its page shows beside it. */
export type CheckoutRow = ShownPayment & {
  readonly version: string;
  /** As the account chose to be called on the page, or else its name. */
  readonly merchantName: string;
  readonly brandAccent: string | null;
  readonly brandLogoName: string | null;
  /** Origins that may show the page in a frame. */
  readonly origins: readonly string[];
  /** An e-mail address or the https address of a page. */
  readonly supportContact: string | null;
};

/** Joined: the driver writes arrays out with two searches an element. Neither has commas of its own. */
const wantedColumns = (wanted: readonly WantedCheckout[]): string[] => [
  wanted.map(({ environment }) => environment).join(),
  wanted.map(({ id }) => id).join(),
];

/** Of the rows that name the merchant, how he is asked and who may frame the page. A page's is this and its payment's. */
const merchantVersion = 'a.xmin::text || a.ctid::text || s.xmin::text || s.ctid::text';

/** Lengths are hidden, or every batch would be planned anew: what is cast to an enumeration is not known to the planner. */
const wantedRows = `unnest(string_to_array($1, ',')::environment[], string_to_array($2, ','))
      with ordinality as wanted(environment, id, position)`;

/** Row by row: no plan may read the whole table, whatever is known of it. */
const theWanted = 'p.id = wanted.id and p.environment = wanted.environment limit 1';

const readCheckoutsStatement = {
  name: 'checkouts-read',
  text: `select wanted.position::int, found.* from ${wantedRows} cross join lateral (
      select ${merchantVersion} || ${rowVersion}, coalesce(s.brand_name, a.name) as "merchantName",
        s.brand_accent as "brandAccent", s.brand_logo_name as "brandLogoName", s.checkout_origins as origins,
        s.support_contact as "supportContact", ${shownPaymentColumns}
      from payments p
        join accounts a on a.id = p.account_id
        join account_settings s on s.account_id = p.account_id and s.environment = p.environment
      where ${theWanted}) found`,
};
/** Many pages' payments in one round trip; null where there is none in that environment. */
export const readCheckouts = async (
  db: Queryable,
  wanted: readonly WantedCheckout[],
): Promise<(CheckoutRow | null)[]> => {
  const found: (CheckoutRow | null)[] = wanted.map(() => null);
  if (found.length === 0) return found;
  const rows = await db.query<CheckoutRow & { position: number }>(readCheckoutsStatement, wantedColumns(wanted));
  for (const row of rows) {
    // A comma within an id would move all behind it, and show a payer another's payment.
    if (wanted[row.position - 1]?.id !== row.id) throw new Error('checkouts are not as they were asked for');
    found[row.position - 1] = row;
  }
  return found;
};

// In one row: as many as pages would each have to be taken apart, and that costs this process more than the database. The
// merchant is looked for apart from the payment, since most pages have the same one: the database remembers what it found.
const readVersionsStatement = {
  name: 'checkouts-versions',
  text: `select array_to_string(array(
      select coalesce(merchant.version || payment.version, '') from ${wantedRows}
        left join lateral (
          select ${rowVersion}, p.account_id, p.environment from payments p where ${theWanted}) payment on true
        left join lateral (
          select ${merchantVersion} as version from accounts a join account_settings s on s.account_id = a.id
          where a.id = payment.account_id and s.environment = payment.environment limit 1) merchant on true
      order by wanted.position), E'\\n') as versions`,
};
/** The versions alone: what all open pages ask for several times a second. Null where there is no such payment. */
export const readCheckoutVersions = async (
  db: Queryable,
  wanted: readonly WantedCheckout[],
): Promise<(string | null)[]> => {
  if (wanted.length === 0) return [];
  const [row] = await db.query<{ versions: string }>(readVersionsStatement, wantedColumns(wanted));
  return row!.versions.split('\n').map(version => version || null);
};
