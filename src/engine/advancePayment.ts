import type { Scope } from '../core/environment.ts';
import { decide } from '../core/payment/decide.ts';
import type { Actions, Facts } from '../core/payment/facts.ts';
import type { Queryable } from '../storage/database.ts';
import { type ChainTimes, readChainTimes } from '../storage/networkStatus.ts';
import { lockPayments, type PaymentKey, type PaymentRow } from '../storage/payments.ts';
import type { Context } from './context.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { readTiers } from './readTiers.ts';
import { type Plan, planOutcome, writeOutcomes } from './writeOutcomes.ts';

const acceptedOf = ({ amountAccepted, acceptedAt }: PaymentRow): Actions['accepted'] =>
  amountAccepted === null || acceptedAt === null ? null : { amount: BigInt(amountAccepted), at: acceptedAt.getTime() };

/** The facts of a locked payment. No chain is watched for funds yet, so there are no transfers to load. */
const factsOf = (row: PaymentRow, caughtUpAt: Date | null): Facts => ({
  terms: {
    amount: BigInt(row.amount),
    toleranceBps: row.toleranceBps,
    tiers: readTiers(row.tiers),
    latePolicy: row.latePolicy,
    lateWindowSeconds: row.lateWindowSeconds,
    createdAt: row.createdAt.getTime(),
    expiresAt: row.expiresAt.getTime(),
  },
  transfers: [],
  strays: [],
  chain: { latest: null, safe: null, finalized: null, caughtUpAt: caughtUpAt?.getTime() ?? null },
  actions: { canceledAt: row.canceledAt?.getTime() ?? null, accepted: acceptedOf(row), timeEndedAt: null },
  history: {
    status: row.status,
    exception: row.exception,
    amountReceived: BigInt(row.amountReceived),
    detected: false,
    completedAt: row.completedAt?.getTime() ?? null,
    settled: [],
    strays: [],
    sequence: row.sequence,
  },
});

/** Refuses by throwing, or adds a fact. */
export type Act = (facts: Facts, nowMs: number) => Partial<Actions>;

const planFor = (context: Context, row: PaymentRow, times: ChainTimes, act: Act | undefined): Plan => {
  // An event is rendered from this row and frozen for ever.
  assertAuthentic(context, row);
  const nowMs = times.now.getTime();
  const found = factsOf(row, times.caughtUpAt(row));
  const facts = act ? { ...found, actions: { ...found.actions, ...act(found, nowMs) } } : found;
  return planOutcome(context, row, facts.actions.accepted, decide(facts, nowMs), nowMs);
};

export type Advanced = {
  /** As they are now; those that were not found, or were locked and skipped, are in neither list. */
  readonly rows: readonly PaymentRow[];
  /** How many of them were written. */
  readonly written: number;
  /** Those that could not be decided. Nothing was written for them. */
  readonly failed: readonly { readonly key: PaymentKey; readonly error: unknown }[];
};

/**
 * Locks payments, lets `act` refuse or add a fact, decides each, and writes state, totals, events and deliveries in the
 * caller's transaction. Chain events, the clock and merchants' actions all pass through here.
 */
export const advancePayments = async (
  context: Context,
  tx: Queryable,
  keys: readonly PaymentKey[],
  options: { whenLocked: 'wait' | 'skip'; act?: Act | undefined },
): Promise<Advanced> => {
  const rows = await lockPayments(tx, keys, options.whenLocked);
  if (rows.length === 0) return { rows, written: 0, failed: [] };
  const times = await readChainTimes(tx);
  const plans: Plan[] = [];
  const failed: { key: PaymentKey; error: unknown }[] = [];
  for (const row of rows) {
    try {
      plans.push(planFor(context, row, times, options.act));
    } catch (error) {
      failed.push({ key: { accountId: row.accountId, environment: row.environment, id: row.id }, error });
    }
  }
  await writeOutcomes(tx, plans);
  return {
    rows: plans.map(plan => plan.after),
    written: plans.filter(plan => plan.writes.length > 0).length,
    failed,
  };
};

/** One payment, waited for if it is locked. Null: no such payment. */
export const advancePayment = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
  act?: Act,
): Promise<PaymentRow | null> => {
  const { rows, failed } = await advancePayments(context, tx, [{ ...scope, id }], { whenLocked: 'wait', act });
  if (failed[0]) throw failed[0].error;
  return rows[0] ?? null;
};
