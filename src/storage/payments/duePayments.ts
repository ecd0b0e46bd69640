import { unreadHoldMs } from '../../core/payment/deriveState.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable } from '../database.ts';
import { paymentKeys } from './paymentKeys.ts';

/** Few at a time: they share a limit on strays per transaction, and each loads everything that it shows. */
const untoldShare = 10;

const hold = `${unreadHoldMs / 1000} * interval '1 second'`;

// The subselect reads the clock once: a volatile timestamp cannot bound an index scan. With 100,000 open payments each
// run of the sweeper read all of them (93 ms instead of 0.1).
const duePaymentsStatement = {
  name: 'payments-due',
  text: `select due.* from chains c
    cross join lateral (values (false, c.caught_up_at), (true,
      case when c.caught_up_at - ${hold} >= coalesce(c.coins_caught_up_at, '-infinity') then c.caught_up_at
        else c.coins_caught_up_at end)) as read(coins, upto)
    cross join lateral (
      (select p.account_id as "accountId", p.environment, p.id from payments p
        where read.upto is not null and p.caip2 = c.caip2 and (p.contract is null) = read.coins
          and p.wake_at is not null and not p.awaits_read and p.wake_at <= least((select clock_timestamp()), read.upto)
        order by p.wake_at limit $1)
      union all
      (select p.account_id, p.environment, p.id from payments p
        where read.upto is not null and p.caip2 = c.caip2 and (p.contract is null) = read.coins
          and p.wake_at is not null and p.awaits_read
          and p.wake_at <= least((select clock_timestamp()), read.upto) - ${hold}
        order by p.wake_at limit $1)
    ) due
    union
    (select account_id, environment, id from payments where untold order by id limit ${untoldShare})`,
};
/**
 * Payments whose time has come, by the clock and by how far their chain is read: up to `share` of each chain, for
 * tokens and for native coin. Each chain is read by itself, so that a backlog does not delay the others, and the
 * backlog of a halted chain is not read again and again. Pending ones wait for their balances to be read, for an hour at
 * most: if those of native coin cannot be read for that long, the blocks decide. Payments with unreported strays are added, whatever chain these came on.
 */
export const duePayments = (db: Queryable, share: number): Promise<PaymentKey[]> =>
  db.query<PaymentKey>(duePaymentsStatement, [share]);

const dueAtHeightStatement = {
  name: 'payments-due-at-height',
  text: `select due.* from chains c
    cross join lateral (values ('latest', c.latest_number), ('safe', c.safe_number), ('finalized', c.finalized_number),
      ('agreed', c.agreed_number)) as reached(frontier, number)
    cross join lateral (
      select p.account_id as "accountId", p.environment, p.id from payments p
      where p.caip2 = c.caip2 and p.wake_frontier = reached.frontier and p.wake_number <= reached.number
      order by p.wake_number limit $2
    ) due where c.caip2 = $1`,
};
/** Payments that wait for a height that their chain has reached, up to `share` of each frontier. */
export const dueAtHeight = (db: Queryable, caip2: string, share: number): Promise<PaymentKey[]> =>
  db.query<PaymentKey>(dueAtHeightStatement, [caip2, share]);

const wakeLaterStatement = {
  name: 'payments-wake-later',
  text: `update payments p set wake_at = clock_timestamp() + $4 * interval '1 second', wake_frontier = null,
      wake_number = null, untold = false, awaits_read = false
    from ${paymentKeys.rows('k')}
    where p.account_id = k.account_id and p.environment = k.environment and p.id = k.id`,
};
/** Postpones payments that cannot be decided, so that the others come first. */
export const wakeLater = async (db: Queryable, keys: readonly PaymentKey[], delaySeconds: number): Promise<void> => {
  await db.query(wakeLaterStatement, [...paymentKeys.values(keys), delaySeconds]);
};
