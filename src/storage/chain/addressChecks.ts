import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { paymentKeys } from '../payments/paymentKeys.ts';
import { baselineJoin, type CoinPayment, checkCoins, coinColumns } from './coins.ts';

/** A payment whose address must be read, with what its records say that it holds in its own token. */
export type UnreadPayment = CoinPayment & {
  contract: string | null;
  /** Base units, as text; may be negative. */
  recorded: string;
};

const columns = `${coinColumns}, p.contract, coalesce((
    select r.held from forwarder_records(p.account_id, p.environment, p.id, ${Number.MAX_SAFE_INTEGER}) r
    where r.caip2 = $1 and r.contract = coalesce(p.contract, '')
  ), 0)::text as recorded`;

const expiringStatement = {
  name: 'addresses-expiring',
  text: `select ${columns} from (values (true), (false)) as kind(coins) cross join lateral (
      select * from payments u where u.caip2 = $1 and (u.contract is null) = kind.coins and u.wake_at <= $2
        and u.wake_at is not null and u.awaits_read
        and u.id <> all($3::text[])
      order by u.wake_at limit $4
    ) p ${baselineJoin}`,
};
/** Pending payments whose time is over and whose address has not been read since, up to `share` of tokens and of coin. */
export const expiringPayments = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  { upTo, except, share }: { readonly upTo: Date; readonly except: readonly string[]; readonly share: number },
): Promise<UnreadPayment[]> => checkCoins(sealer, await db.query(expiringStatement, [caip2, upTo, except, share]));

const expiredStatement = {
  name: 'addresses-expired-unread',
  text: `select ${columns} from payments p ${baselineJoin} where p.caip2 = $1 and p.expired_unread and p.id > $2 order by p.id limit $3`,
};
/** Payments that expired although their address was not read, or did not agree, ordered by id. */
export const expiredUnread = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<UnreadPayment[]> => checkCoins(sealer, await db.query(expiredStatement, [caip2, after, limit]));

const againStatement = {
  name: 'addresses-again',
  text: `select ${columns} from payments p ${baselineJoin} where p.id = any($2::text[])`,
};
/** The same payments, after something was written. */
export const readAgain = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  ids: readonly string[],
): Promise<UnreadPayment[]> => checkCoins(sealer, await db.query(againStatement, [caip2, ids]));

const markStatement = {
  name: 'addresses-mark',
  text: `with marked as (
      update payments p set balance_checked_at = $4, expired_unread = false, awaits_read = false
      from ${paymentKeys.rows('k')}, chains c
      where p.account_id = k.account_id and p.environment = k.environment and p.id = k.id
        and c.caip2 = $5 and c.fence = $6
      returning p.id, p.contract
    )
    update differences u set resolved_at = clock_timestamp() from marked m
    where $7 and u.payment_id = m.id and u.caip2 = $5 and u.resolved_at is null and u.amount > 0
      and (u.contract is null or u.contract = m.contract)`,
};
/**
 * Records that up to this time the addresses were read. Those that agree hold no more than the records say, in native coin
 * and in their own token: such differences are resolved.
 */
export const markAddressesRead = async (
  db: Queryable,
  { caip2, fence }: { readonly caip2: string; readonly fence: string },
  keys: readonly PaymentKey[],
  { upTo, agree }: { readonly upTo: Date; readonly agree: boolean },
): Promise<void> => {
  if (keys.length === 0) return;
  await db.query(markStatement, [...paymentKeys.values(keys), upTo, caip2, fence, agree]);
};
