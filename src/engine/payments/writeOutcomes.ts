import type { Outcome, Step } from '../../core/payment/decide.ts';
import type { Facts } from '../../core/payment/facts.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import { markTransfers, type TransferMark } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import { moveTotals } from '../../storage/payments/moveTotals.ts';
import { type PaymentChange, type PaymentRow, updatePayments } from '../../storage/payments/payments.ts';
import { insertEvents, type NewEvent } from '../../storage/webhooks/events.ts';
import type { Context } from '../context.ts';
import { meanwhile } from '../meanwhile.ts';
import { sealCallback, sealEvent } from '../webhooks/eventSeal.ts';
import { movedHolding, movedVolume } from './movedFunds.ts';
import { type Funds, isUnreportedStray, strayKey } from './paymentFacts.ts';
import { type PaymentView, paymentObject, printPayment, renderEvent, viewOfRow } from './paymentObject.ts';
import { sealPayment } from './paymentSeal.ts';

type UnsealedEvent = Omit<NewEvent, 'seal' | 'callback'> & { readonly payment: PaymentRow };
type Planned = { change: PaymentChange; event: UnsealedEvent | null };

/** A locked payment, the row it becomes without its new seal, and the writes that lead there, in order. */
export type Plan = {
  before: PaymentRow;
  after: PaymentRow;
  funds: Funds;
  writes: readonly Planned[];
  marks: readonly TransferMark[];
};

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
const sameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime();

const isSame = (a: PaymentRow, b: PaymentRow): boolean =>
  a.amountReceived === b.amountReceived &&
  a.amountConfirmed === b.amountConfirmed &&
  a.amountAccepted === b.amountAccepted &&
  a.wakeFrontier === b.wakeFrontier &&
  a.wakeNumber === b.wakeNumber &&
  a.coveredNumber === b.coveredNumber &&
  a.untold === b.untold &&
  a.awaitsRead === b.awaitsRead &&
  a.expiredUnread === b.expiredUnread &&
  sameTime(a.acceptedAt, b.acceptedAt) &&
  sameTime(a.canceledAt, b.canceledAt) &&
  sameTime(a.timeEndedAt, b.timeEndedAt) &&
  sameTime(a.wakeAt, b.wakeAt);

/** When an event happens, and the trace of the request that caused it. */
type Cause = { readonly nowMs: number; readonly trace: TraceContext | null };

const planEvent = (context: Context, row: PaymentRow, view: PaymentView, step: Step, cause: Cause): UnsealedEvent => {
  const { nowMs, trace } = cause;
  const { id } = context.ids.next('event', nowMs);
  const { previous, sequence, event: type, status, exception } = step;
  const { environment } = row;
  const data = printPayment(paymentObject({ ...view, status, exception }, context.environments[environment]));
  return {
    id,
    sequence,
    type,
    status,
    exception,
    previousStatus: previous.status,
    previousException: previous.exception,
    createdAt: new Date(nowMs),
    body: renderEvent({ id, type, atMs: nowMs, environment, sequence, data, previous }),
    payment: row,
    trace,
  };
};

type Sealer = Pick<Context, 'vault'>;

const sealedEvent = ({ vault }: Sealer, event: UnsealedEvent): NewEvent => {
  const { id: paymentId, accountId, environment, callbackUrl: url } = event.payment;
  return {
    ...event,
    seal: sealEvent(vault, { ...event, accountId, environment, paymentId }),
    callback:
      url === null ? null : { url, seal: sealCallback(vault, { accountId, environment, eventId: event.id, url }) },
  };
};

/** Marks of transfers that changed. */
const marksOf = ({ transfers }: Funds, { settled, steps }: Outcome): TransferMark[] => {
  if (transfers.length === 0) return [];
  const settledKeys = new Set(settled);
  const reportedKeys = new Set(steps.map(step => step.stray));
  return transfers.flatMap(transfer => {
    const settled = !transfer.stray && settledKeys.has(transfer.key);
    const told = transfer.told || (transfer.stray && reportedKeys.has(strayKey(transfer)));
    if (settled === transfer.settled && told === transfer.told) return [];
    return [{ caip2: transfer.caip2, key: transfer.key, settled, told }];
  });
};

const leavesUnreported = ({ transfers }: Funds, marks: readonly TransferMark[]): boolean =>
  transfers.filter(isUnreportedStray).length > marks.filter(({ told }) => told).length;

type Decided = Cause & {
  readonly before: PaymentRow;
  readonly funds: Funds;
  readonly facts: Facts;
  readonly outcome: Outcome;
};

const changeOf = ({ before, facts, outcome }: Decided, untold: boolean): PaymentChange => ({
  status: before.status,
  exception: before.exception,
  sequence: before.sequence,
  amountReceived: outcome.amountReceived,
  amountConfirmed: outcome.amountConfirmed,
  accepted: facts.actions.accepted && {
    amount: facts.actions.accepted.amount,
    at: new Date(facts.actions.accepted.at),
  },
  completedAt: dateOf(outcome.completedAt),
  canceledAt: dateOf(outcome.canceledAt),
  timeEndedAt: dateOf(facts.actions.timeEndedAt),
  detected: before.detected || outcome.steps.some(step => step.event === 'payment.detected'),
  strayed: before.strayed || outcome.steps.some(step => step.stray !== null),
  untold,
  coveredNumber: outcome.coveredNumber,
  wakeAt: dateOf(outcome.wakeAt),
  awaitsRead: outcome.awaitsRead,
  expiredUnread: outcome.expiredUnread,
  wakeBlock: outcome.wakeBlock,
});

const rowAfter = (before: PaymentRow, change: PaymentChange): PaymentRow => ({
  ...before,
  amountReceived: change.amountReceived.toString(),
  amountConfirmed: change.amountConfirmed.toString(),
  amountAccepted: change.accepted?.amount.toString() ?? null,
  acceptedAt: change.accepted?.at ?? null,
  completedAt: change.completedAt,
  canceledAt: change.canceledAt,
  timeEndedAt: change.timeEndedAt,
  detected: change.detected,
  strayed: change.strayed,
  untold: change.untold,
  coveredNumber: change.coveredNumber,
  wakeAt: change.wakeAt,
  awaitsRead: change.awaitsRead,
  expiredUnread: change.expiredUnread,
  wakeFrontier: change.wakeBlock?.frontier ?? null,
  wakeNumber: change.wakeBlock?.number ?? null,
});

/** The writes of an outcome: one per step with its event, or one without an event if only figures changed. */
export const planOutcome = (context: Context, decided: Decided): Plan => {
  const { before, funds, outcome } = decided;
  const marks = marksOf(funds, outcome);
  const change = changeOf(decided, leavesUnreported(funds, marks));
  let after = rowAfter(before, change);
  if (outcome.steps.length === 0) {
    if (isSame(before, after) && marks.length === 0) return { before, after: before, funds, writes: [], marks };
    return { before, after, funds, writes: [{ change, event: null }], marks };
  }
  // The views of the steps differ only in their state.
  const view = viewOfRow(context, after, funds);
  const writes = outcome.steps.map(step => {
    const { status, exception, sequence } = step;
    after = { ...after, status, exception, sequence };
    return {
      change: { ...change, status, exception, sequence },
      event: planEvent(context, after, view, step, decided),
    };
  });
  return { before, after, funds, writes, marks };
};

/** The changes that the database must see: those that make an edge, and the last. The others only add events. */
const edgesOf = ({ before, writes }: Plan): readonly PaymentChange[] => {
  let { status } = before;
  return writes.flatMap(({ change }, at) => {
    const next = writes[at + 1]?.change.status;
    if (next !== undefined && (next === change.status || change.status === status)) return [];
    status = change.status;
    return [change];
  });
};

const sealedRow = ({ vault }: Sealer, { after, writes }: Plan): PaymentRow =>
  writes.length === 0 ? after : { ...after, seal: sealPayment(vault, after) };

/**
 * Writes the plans of many payments together: state, events, deliveries and totals. The database checks each edge, so
 * the first edges of all payments are written first, then the second ones, and so on. Returns the rows as they are then.
 */
export const writeOutcomes = async (context: Sealer, tx: Queryable, plans: readonly Plan[]): Promise<PaymentRow[]> => {
  const marks = plans.flatMap(plan => plan.marks);
  const [, rows] = await meanwhile(markTransfers(tx, marks), () => plans.map(plan => sealedRow(context, plan)));
  const edges = plans.map(edgesOf);
  const rounds = edges.reduce((most, changes) => Math.max(most, changes.length), 0);
  const updateAll = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await updatePayments(
        tx,
        plans.flatMap(({ before: key }, at) => {
          const [change, seal] = [edges[at]![round], rows[at]!.seal];
          return change && seal ? [{ key, change, seal }] : [];
        }),
      );
    }
  };
  const planned = plans.flatMap(({ writes }) => writes.flatMap(({ event }) => event ?? []));
  const [, events] = await meanwhile(updateAll(), () => planned.map(event => sealedEvent(context, event)));
  await moveTotals(tx, {
    states: events.map(event => ({
      payment: event.payment,
      from: { status: event.previousStatus, exception: event.previousException },
      to: { status: event.status, exception: event.exception },
    })),
    volumes: plans.flatMap(movedVolume),
    holdings: plans.flatMap(movedHolding),
  });
  if (events.length > 0) await insertEvents(tx, events);
  return rows;
};
