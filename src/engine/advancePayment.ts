import type { Scope } from '../core/environment.ts';
import { decide } from '../core/payment/decide.ts';
import type { Actions, ConfirmationRule, ConfirmationTier, Facts } from '../core/payment/facts.ts';
import { isLegalEdge } from '../core/payment/states.ts';
import type { Queryable } from '../storage/database.ts';
import { insertEvent, moveTotal } from '../storage/events.ts';
import { readCaughtUpAt } from '../storage/networkStatus.ts';
import {
  lockPayment,
  type PaymentRow,
  readNow,
  rescheduleWake,
  type StoredTier,
  updatePayment,
} from '../storage/payments.ts';
import type { Context } from './context.ts';
import { renderEvent, renderPayment, viewOfRow } from './paymentObject.ts';

const ruleOf = ({ kind, depth }: StoredTier): ConfirmationRule => {
  if (kind === 'depth') return { kind, depth: depth! };
  return depth === null ? { kind } : { kind, depth };
};

const tiersOf = (stored: StoredTier[]): readonly [ConfirmationTier, ...ConfirmationTier[]] => {
  const tiers = stored.map(tier => ({ atLeast: BigInt(tier.atLeast), rule: ruleOf(tier) }));
  return tiers as [ConfirmationTier, ...ConfirmationTier[]];
};

/** The facts of a locked payment. No chain is watched for funds yet, so there are no transfers to load. */
const factsOf = (row: PaymentRow, caughtUpAt: Date | null, actions: Partial<Actions>): Facts => ({
  terms: {
    amount: BigInt(row.amount),
    toleranceBps: row.toleranceBps,
    tiers: tiersOf(row.tiers),
    latePolicy: row.latePolicy,
    lateWindowSeconds: row.lateWindowSeconds,
    createdAt: row.createdAt.getTime(),
    expiresAt: row.expiresAt.getTime(),
  },
  transfers: [],
  strays: [],
  chain: { latest: null, safe: null, finalized: null, caughtUpAt: caughtUpAt?.getTime() ?? null },
  actions: { canceledAt: row.canceledAt?.getTime() ?? null, accepted: null, timeEndedAt: null, ...actions },
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

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/**
 * Locks the payment, lets `act` refuse or add a fact, decides, and writes state, totals, events and deliveries in the
 * caller's transaction. Chain events, the clock and merchants' actions all pass through here. Null: no such payment.
 */
export const advancePayment = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
  act?: (facts: Facts, nowMs: number) => Partial<Actions>,
): Promise<PaymentRow | null> => {
  const row = await lockPayment(tx, scope, id);
  if (!row) return null;
  const caughtUpAt = await readCaughtUpAt(tx, row.environment, row.network);
  const nowMs = (await readNow(tx)).getTime();
  const before = factsOf(row, caughtUpAt, {});
  const facts = act ? factsOf(row, caughtUpAt, act(before, nowMs)) : before;
  const outcome = decide(facts, nowMs);
  if (outcome.steps.length === 0 && outcome.wakeAt !== (row.wakeAt?.getTime() ?? null)) {
    await rescheduleWake(tx, scope, id, dateOf(outcome.wakeAt));
  }
  const after: PaymentRow = {
    ...row,
    canceledAt: dateOf(outcome.canceledAt),
    completedAt: dateOf(outcome.completedAt),
  };
  for (const step of outcome.steps) {
    const { previous } = step;
    if (previous.status !== step.status && !isLegalEdge(previous.status, step.status)) {
      throw new Error(`illegal edge ${previous.status} to ${step.status}`);
    }
    after.status = step.status;
    after.exception = step.exception;
    after.amountReceived = outcome.amountReceived.toString();
    after.amountConfirmed = outcome.amountConfirmed.toString();
    const event = context.ids.next('event', nowMs);
    const data = renderPayment(viewOfRow(after), context.environments[row.environment]);
    await updatePayment(tx, scope, id, {
      status: step.status,
      exception: step.exception,
      amountReceived: outcome.amountReceived,
      amountConfirmed: outcome.amountConfirmed,
      completedAt: after.completedAt,
      canceledAt: after.canceledAt,
      sequence: step.sequence,
      wakeAt: dateOf(outcome.wakeAt),
    });
    await moveTotal(tx, scope, id, previous.status, step.status);
    await insertEvent(tx, scope, {
      id: event.id,
      paymentId: id,
      sequence: step.sequence,
      type: step.event,
      status: step.status,
      exception: step.exception,
      previousStatus: previous.status,
      previousException: previous.exception,
      createdAt: new Date(nowMs),
      callbackUrl: row.callbackUrl,
      body: renderEvent({
        id: event.id,
        type: step.event,
        atMs: nowMs,
        environment: row.environment,
        sequence: step.sequence,
        data,
        previous,
      }),
    });
  }
  return after;
};
