import type { Scope } from '../../core/environment.ts';
import type { PaymentState } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns, type Fields } from '../columns.ts';
import type { Queryable } from '../database.ts';

export type StateMove = { payment: PaymentKey; from: PaymentState; to: PaymentState };

type Token = { readonly currency: string; readonly network: string; readonly decimals: number };

/** What a payment adds to the volume of a UTC day, or takes from it. */
export type VolumeMove = Scope & Token & { readonly at: Date; readonly count: number; readonly amount: bigint };

/** A change of what forwarders hold for a treasury. */
export type HoldingMove = Scope &
  Token & {
    readonly caip2: string;
    readonly contract: string | null;
    readonly treasury: string;
    readonly count: number;
    readonly amount: bigint;
  };

export type Moves = {
  readonly states: readonly StateMove[];
  readonly volumes: readonly VolumeMove[];
  readonly holdings: readonly HoldingMove[];
};

type Moved = Scope & Token & { readonly count: number; readonly amount: bigint };

const moved: Fields<Moved> = {
  account_id: ['text', m => m.accountId],
  environment: ['environment', m => m.environment],
  currency: ['text', m => m.currency],
  network: ['text', m => m.network],
  decimals: ['smallint', m => m.decimals],
  count: ['integer', m => m.count],
  amount: ['numeric', m => m.amount.toString()],
};
const stateMoves = columns<StateMove>({
  account_id: ['text', m => m.payment.accountId],
  environment: ['environment', m => m.payment.environment],
  id: ['text', m => m.payment.id],
  old_status: ['payment_status', m => m.from.status],
  old_exception: ['payment_exception', m => m.from.exception],
  new_status: ['payment_status', m => m.to.status],
  new_exception: ['payment_exception', m => m.to.exception],
});
const volumeMoves = columns<VolumeMove>({ ...moved, at: ['timestamptz', m => m.at] }, { first: stateMoves.next });
const holdingMoves = columns<HoldingMove>(
  {
    ...moved,
    caip2: ['text', m => m.caip2],
    contract: ['text', m => m.contract ?? ''],
    treasury: ['text', m => m.treasury],
  },
  { first: volumeMoves.next },
);

// One statement for all three: separate ones would add two round trips to every completion.
const moveTotalsStatement = {
  name: 'totals-move',
  text: `with volumes as (
      insert into volume_deltas (account_id, environment, currency, network, decimals, day, count, amount)
      select account_id, environment, currency, network, decimals, (at at time zone 'UTC')::date, sum(count), sum(amount)
      from ${volumeMoves.rows('v')}
      group by 1, 2, 3, 4, 5, 6 having sum(count) <> 0 or sum(amount) <> 0
    ), holdings as (
      insert into holding_deltas (account_id, environment, currency, network, decimals, caip2, contract, treasury, count,
        amount)
      select account_id, environment, currency, network, decimals, caip2, contract, treasury, sum(count), sum(amount)
      from ${holdingMoves.rows('h')}
      group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(count) <> 0 or sum(amount) <> 0
    )
    insert into payment_deltas (account_id, environment, status, exception, currency, network, hour, change)
    select account_id, environment, d.status, d.exception, p.currency, p.network,
      date_trunc('hour', p.created_at, 'UTC'), sum(d.count)
    from ${stateMoves.rows('m')}
      join payments p using (account_id, environment, id)
      cross join lateral (values (m.old_status, m.old_exception, -1), (m.new_status, m.new_exception, 1))
        as d(status, exception, count)
    group by 1, 2, 3, 4, 5, 6, 7 having sum(d.count) <> 0`,
};

/** Moves payments from one state to another in the totals, with their volumes and holdings. */
export const moveTotals = async (db: Queryable, { states, volumes, holdings }: Moves): Promise<void> => {
  const changed = states.filter(({ from, to }) => from.status !== to.status || from.exception !== to.exception);
  if (changed.length + volumes.length + holdings.length === 0) return;
  await db.query(moveTotalsStatement, [
    ...stateMoves.values(changed),
    ...volumeMoves.values(volumes),
    ...holdingMoves.values(holdings),
  ]);
};
