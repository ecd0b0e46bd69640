import type { Scope } from '../../core/environment.ts';
import { decide } from '../../core/payment/decide.ts';
import { unreadHoldMs } from '../../core/payment/deriveState.ts';
import type { Actions, Facts } from '../../core/payment/facts.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import type { ChainMoment } from '../../storage/chain/chains.ts';
import type { PlacedTransfer } from '../../storage/chain/transferSeals.ts';
import { readTransfers } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import { lockPayments, type PaymentRow } from '../../storage/payments/payments.ts';
import { type BranchedMoment, readBranchedMoment } from '../chain/branchedMoment.ts';
import type { Context } from '../context.ts';
import { meanwhile } from '../meanwhile.ts';
import { assertGenuineTransfers, assertOnChain } from './fundsSeal.ts';
import { assertAuthentic, TamperedPayment } from './paymentAddress.ts';
import { type Funds, factsOf, noFunds } from './paymentFacts.ts';
import { type Plan, planOutcome, writeOutcomes } from './writeOutcomes.ts';

/**
 * Strays reported in one transaction, or one per payment if that is more: each has an event with the whole payment in
 * it, and anybody can send thousands. The sweeper reports the rest.
 */
const straysAtOnce = 200;

/** Adds a fact to the payment, or throws to refuse. */
export type Act = (facts: Facts, nowMs: number, row: PaymentRow) => Partial<Actions>;

/** What somebody does to a payment, and the trace of their request. */
export type TracedAct = { readonly act?: Act | undefined; readonly trace?: TraceContext | null | undefined };

/**
 * Native coin sent by a contract is found by balance, later than all other transfers. Once balances cannot be read for as
 * long as expiry may wait for them, the blocks decide, and the payment is flagged.
 */
const coinsReadUpTo = (chain: ChainMoment | undefined): Date | null => {
  const { caughtUpAt = null, coinsCaughtUpAt = null } = chain ?? {};
  const isStuck = caughtUpAt !== null && caughtUpAt.getTime() - (coinsCaughtUpAt?.getTime() ?? 0) >= unreadHoldMs;
  return isStuck ? caughtUpAt : coinsCaughtUpAt;
};

const planFor = (
  context: Context,
  row: PaymentRow,
  transfers: readonly PlacedTransfer[],
  moment: BranchedMoment,
  options: TracedAct & { strays: number },
): Plan => {
  const nowMs = moment.now.getTime();
  const chain = moment.chains.get(row.caip2);
  if (chain === undefined && transfers.length > 0) {
    throw new TamperedPayment('the chain of the payment does not match its seal');
  }
  const credits = transfers.filter(({ stray }) => !stray);
  assertOnChain(context, row, credits, chain);
  const funds: Funds = { transfers, heights: chain ?? noFunds.heights };
  const caughtUpAt = (row.contract === null ? coinsReadUpTo(chain) : chain?.caughtUpAt) ?? null;
  const found = factsOf(row, funds, caughtUpAt, options.strays);
  const { act, trace = null } = options;
  const facts = act ? { ...found, actions: { ...found.actions, ...act(found, nowMs, row) } } : found;
  return planOutcome(context, {
    before: row,
    funds,
    facts,
    outcome: decide(facts, nowMs),
    nowMs,
    trace,
  });
};

/** The chains of payments, and whether any of these has transfers that may count. */
const creditedChains = (
  rows: readonly PaymentRow[],
  transfers: ReadonlyMap<string, readonly PlacedTransfer[]>,
): ReadonlyMap<string, boolean> => {
  const credited = new Map<string, boolean>();
  for (const { id, caip2 } of rows) {
    const isCredited = transfers.get(id)?.some(({ stray }) => !stray) ?? false;
    credited.set(caip2, isCredited || credited.get(caip2) === true);
  }
  return credited;
};

export type AdvancedPayment = { readonly row: PaymentRow; readonly funds: Funds };

export type Advanced = {
  /** The payments as they are now. Payments that were not found, or were locked and skipped, are in neither list. */
  readonly payments: readonly AdvancedPayment[];
  /** How many of them were written. */
  readonly written: number;
  /** Payments that could not be decided. Nothing was written for them. */
  readonly failed: readonly { readonly key: PaymentKey; readonly error: unknown }[];
};

/**
 * Locks payments, lets `act` refuse or add a fact, decides each, and writes state, totals, events and deliveries in the
 * caller's transaction. Chain events, the clock and merchant actions all pass through here.
 */
export const advancePayments = async (
  context: Context,
  tx: Queryable,
  keys: readonly PaymentKey[],
  options: TracedAct & { whenLocked: 'wait' | 'skip' },
): Promise<Advanced> => {
  const rows = await lockPayments(tx, keys, options.whenLocked);
  if (rows.length === 0) return { payments: [], written: 0, failed: [] };
  // Read after the rows are locked: a transaction that writes transfers holds the row until it commits.
  const strays = Math.max(1, Math.floor(straysAtOnce / rows.length));
  const failures = new Map<PaymentRow, unknown>();
  const eachRow = (work: (row: PaymentRow) => void): void => {
    for (const row of rows.filter(each => !failures.has(each))) {
      try {
        work(row);
      } catch (error) {
        failures.set(row, error);
      }
    }
  };
  // Events are rendered from these rows and never change.
  const [transfers] = await meanwhile(readTransfers(tx, rows, strays + 1), () =>
    eachRow(row => assertAuthentic(context, row)),
  );
  const fundsOf = ({ id }: PaymentRow): readonly PlacedTransfer[] => transfers.get(id) ?? [];
  const [moment] = await meanwhile(readBranchedMoment(context, tx, creditedChains(rows, transfers)), () =>
    eachRow(row => assertGenuineTransfers(context, row, fundsOf(row))),
  );
  const plans: Plan[] = [];
  eachRow(row => void plans.push(planFor(context, row, fundsOf(row), moment, { ...options, strays })));
  const after = await writeOutcomes(context, tx, plans);
  const failed = [...failures].map(([{ accountId, environment, id }, error]) => ({
    key: { accountId, environment, id },
    error,
  }));
  return {
    payments: plans.map(({ funds }, at) => ({ row: after[at]!, funds })),
    written: plans.filter(plan => plan.writes.length > 0).length,
    failed,
  };
};

/** Advances one payment and waits for its lock. Null if it does not exist. */
export const advancePayment = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
  traced: TracedAct = {},
): Promise<{ row: PaymentRow; funds: Funds } | null> => {
  const { payments, failed } = await advancePayments(context, tx, [{ ...scope, id }], {
    whenLocked: 'wait',
    ...traced,
  });
  if (failed[0]) throw failed[0].error;
  return payments[0] ?? null;
};
