import type { Outcome, Step } from '../core/payment/decide.ts';
import type { Actions } from '../core/payment/facts.ts';
import { isLegalEdge } from '../core/payment/states.ts';
import type { Queryable } from '../storage/database.ts';
import { insertEvents, moveTotals, type NewEvent } from '../storage/events.ts';
import { type PaymentChange, type PaymentRow, updatePayments } from '../storage/payments.ts';
import type { Context } from './context.ts';
import { renderEvent, renderPayment, viewOfRow } from './paymentObject.ts';

type Planned = { change: PaymentChange; event: NewEvent | null };

/** A locked payment, the row it becomes, and the writes that lead there, in order. */
export type Plan = { before: PaymentRow; after: PaymentRow; writes: readonly Planned[] };

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
const sameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime();

const isSame = (a: PaymentRow, b: PaymentRow): boolean =>
  a.amountReceived === b.amountReceived &&
  a.amountConfirmed === b.amountConfirmed &&
  a.amountAccepted === b.amountAccepted &&
  sameTime(a.acceptedAt, b.acceptedAt) &&
  sameTime(a.canceledAt, b.canceledAt) &&
  sameTime(a.wakeAt, b.wakeAt);

const planEvent = (context: Context, row: PaymentRow, step: Step, nowMs: number): NewEvent => {
  const { id } = context.ids.next('event', nowMs);
  const { previous, sequence, event: type } = step;
  const { environment } = row;
  const data = renderPayment(viewOfRow(row), context.environments[environment]);
  return {
    id,
    payment: row,
    sequence,
    type,
    status: step.status,
    exception: step.exception,
    previousStatus: previous.status,
    previousException: previous.exception,
    createdAt: new Date(nowMs),
    callbackUrl: row.callbackUrl,
    body: renderEvent({ id, type, atMs: nowMs, environment, sequence, data, previous }),
  };
};

/** What has to be written for an outcome: one write a step, each with its event, or one without if only figures moved. */
export const planOutcome = (
  context: Context,
  before: PaymentRow,
  accepted: Actions['accepted'],
  outcome: Outcome,
  nowMs: number,
): Plan => {
  const change: Omit<PaymentChange, 'status' | 'exception' | 'sequence'> = {
    amountReceived: outcome.amountReceived,
    amountConfirmed: outcome.amountConfirmed,
    accepted: accepted && { amount: accepted.amount, at: new Date(accepted.at) },
    completedAt: dateOf(outcome.completedAt),
    canceledAt: dateOf(outcome.canceledAt),
    wakeAt: dateOf(outcome.wakeAt),
  };
  let after: PaymentRow = {
    ...before,
    amountReceived: change.amountReceived.toString(),
    amountConfirmed: change.amountConfirmed.toString(),
    amountAccepted: change.accepted?.amount.toString() ?? null,
    acceptedAt: change.accepted?.at ?? null,
    completedAt: change.completedAt,
    canceledAt: change.canceledAt,
    wakeAt: change.wakeAt,
  };
  if (outcome.steps.length === 0) {
    const { status, exception, sequence } = before;
    const writes = isSame(before, after) ? [] : [{ change: { ...change, status, exception, sequence }, event: null }];
    return { before, after, writes };
  }
  const writes = outcome.steps.map(step => {
    const { previous, status, exception, sequence } = step;
    if (previous.status !== status && !isLegalEdge(previous.status, status)) {
      throw new Error(`illegal edge ${previous.status} to ${status}`);
    }
    after = { ...after, status, exception, sequence };
    return { change: { ...change, status, exception, sequence }, event: planEvent(context, after, step, nowMs) };
  });
  return { before, after, writes };
};

/**
 * Writes many payments' plans together: state, events, deliveries and totals. The database checks each edge, so the
 * first writes of all go first, then the second ones of those that have more.
 */
export const writeOutcomes = async (tx: Queryable, plans: readonly Plan[]): Promise<void> => {
  const rounds = Math.max(0, ...plans.map(plan => plan.writes.length));
  for (let round = 0; round < rounds; round++) {
    const writes = plans.flatMap(({ before, writes }) => {
      const write = writes[round];
      return write ? [{ key: before, ...write }] : [];
    });
    await updatePayments(tx, writes);
    const events = writes.flatMap(({ event }) => event ?? []);
    if (events.length === 0) continue;
    await moveTotals(
      tx,
      events.map(event => ({ payment: event.payment, from: event.previousStatus, to: event.status })),
    );
    await insertEvents(tx, events);
  }
};
