import type { Environment, Scope } from '../../core/environment.ts';
import type { PaymentState } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
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

// One statement for all three: separate ones would add two round trips to every completion.
const moveTotalsStatement = {
  name: 'totals-move',
  text: `with volumes as (
      insert into volume_deltas (account_id, environment, currency, network, decimals, day, count, amount)
      select account_id, environment, currency, network, decimals, (at at time zone 'UTC')::date, sum(count), sum(amount)
      from unnest($8::text[], $9::environment[], $10::text[], $11::text[], $12::smallint[], $13::timestamptz[],
        $14::integer[], $15::numeric[]) as v(account_id, environment, currency, network, decimals, at, count, amount)
      group by 1, 2, 3, 4, 5, 6 having sum(count) <> 0 or sum(amount) <> 0
    ), holdings as (
      insert into holding_deltas (account_id, environment, currency, network, decimals, caip2, contract, treasury, count,
        amount)
      select account_id, environment, currency, network, decimals, caip2, contract, treasury, sum(count), sum(amount)
      from unnest($16::text[], $17::environment[], $18::text[], $19::text[], $20::smallint[], $21::text[], $22::text[],
        $23::text[], $24::integer[], $25::numeric[])
        as h(account_id, environment, currency, network, decimals, caip2, contract, treasury, count, amount)
      group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(count) <> 0 or sum(amount) <> 0
    )
    insert into payment_deltas (account_id, environment, status, exception, currency, network, hour, change)
    select account_id, environment, d.status, d.exception, p.currency, p.network,
      date_trunc('hour', p.created_at, 'UTC'), sum(d.count)
    from unnest($1::text[], $2::environment[], $3::text[], $4::payment_status[], $5::payment_exception[],
        $6::payment_status[], $7::payment_exception[])
        as m(account_id, environment, id, old_status, old_exception, new_status, new_exception)
      join payments p using (account_id, environment, id)
      cross join lateral (values (m.old_status, m.old_exception, -1), (m.new_status, m.new_exception, 1))
        as d(status, exception, count)
    group by 1, 2, 3, 4, 5, 6, 7 having sum(d.count) <> 0`,
};

type Moved = Scope & Token & { readonly count: number; readonly amount: bigint };

const tokenColumns = (moves: readonly Moved[]): [string[], Environment[], string[], string[], number[]] => [
  moves.map(move => move.accountId),
  moves.map(move => move.environment),
  moves.map(move => move.currency),
  moves.map(move => move.network),
  moves.map(move => move.decimals),
];
const sumColumns = (moves: readonly Moved[]): [number[], string[]] => [
  moves.map(move => move.count),
  moves.map(move => move.amount.toString()),
];

/** Moves payments from one state to another in the totals, with their volumes and holdings. */
export const moveTotals = async (db: Queryable, { states, volumes, holdings }: Moves): Promise<void> => {
  const changed = states.filter(({ from, to }) => from.status !== to.status || from.exception !== to.exception);
  if (changed.length + volumes.length + holdings.length === 0) return;
  await db.query(moveTotalsStatement, [
    changed.map(move => move.payment.accountId),
    changed.map(move => move.payment.environment),
    changed.map(move => move.payment.id),
    changed.map(move => move.from.status),
    changed.map(move => move.from.exception),
    changed.map(move => move.to.status),
    changed.map(move => move.to.exception),
    ...tokenColumns(volumes),
    volumes.map(move => move.at),
    ...sumColumns(volumes),
    ...tokenColumns(holdings),
    holdings.map(move => move.caip2),
    holdings.map(move => move.contract ?? ''),
    holdings.map(move => move.treasury),
    ...sumColumns(holdings),
  ]);
};
