import {
  isLegalEdge,
  type PaymentEventType,
  type PaymentException,
  type PaymentState,
  type PaymentStatus,
} from './states.ts';

/** One entry of a payment's history, with its event. */
export type Move = PaymentState & { readonly event: PaymentEventType; readonly previous: PaymentState };

/**
 * The event of each entry:
 *
 * | entry                                              | event                                        |
 * |----------------------------------------------------|----------------------------------------------|
 * | creation                                           | payment.created (written by the creation)    |
 * | first funds seen, unconfirmed or in a block        | payment.detected                             |
 * | any status → confirming                            | payment.confirming                           |
 * | confirming → completed                             | payment.completed                            |
 * | pending → expired                                  | payment.expired                              |
 * | pending → canceled                                 | payment.canceled                             |
 * | confirming → pending or expired                    | payment.reverted                             |
 * | completed or confirming → reversed (+ reorged)     | payment.reversed                             |
 * | exception becomes underpaid, overpaid or late      | payment.underpaid, .overpaid, .late          |
 * | more funds with the same exception                 | the same event again                         |
 * | exception ends without a change of status          | see `clearedEvent`                           |
 * | a stray                                            | payment.stray                                |
 *
 * An exception that ends together with a change of status is part of that entry. One that begins has its own entry, so
 * that a receiver subscribed to `payment.late` alone gets every late payment. `reorged` begins with the reversal, whose
 * event already reports it.
 */
const edgeEvent = (from: PaymentStatus, to: PaymentStatus): PaymentEventType =>
  from === 'confirming' && (to === 'pending' || to === 'expired') ? 'payment.reverted' : statusEvent[to];

const statusEvent: Readonly<Record<PaymentStatus, PaymentEventType>> = {
  pending: 'payment.reverted',
  confirming: 'payment.confirming',
  completed: 'payment.completed',
  expired: 'payment.expired',
  canceled: 'payment.canceled',
  reversed: 'payment.reversed',
};

const exceptionEvent: Readonly<Record<Exclude<PaymentException, 'reorged'>, PaymentEventType>> = {
  late: 'payment.late',
  overpaid: 'payment.overpaid',
  underpaid: 'payment.underpaid',
};

/**
 * The event when an exception ends without a change of status. In a pending, expired or canceled payment this happens
 * only because a reorg removed the funds. In the other statuses the missing rest may also have arrived, so the event of
 * the status is sent again.
 */
const clearedEvent: Readonly<Record<PaymentStatus, PaymentEventType>> = {
  ...statusEvent,
  expired: 'payment.reverted',
  canceled: 'payment.reverted',
};

/**
 * The statuses on the way, including the last. If facts jumped, the path into `completed` leads through `confirming`,
 * and the path from `completed` to `confirming` leads through `reversed`. Any other jump is a fault.
 */
export const legalPath = (from: PaymentStatus, to: PaymentStatus): readonly PaymentStatus[] => {
  if (from === to) return [];
  if (isLegalEdge(from, to)) return [to];
  if (to === 'completed') return ['confirming', to];
  if (from === 'completed' && to === 'confirming') return ['reversed', to];
  throw new Error(`no legal path leads from ${from} to ${to}`);
};

const moveTo = (previous: PaymentState, next: PaymentState, event: PaymentEventType): Move => {
  if (previous.status !== next.status && !isLegalEdge(previous.status, next.status)) {
    throw new Error(`no legal edge leads from ${previous.status} to ${next.status}`);
  }
  return { status: next.status, exception: next.exception, event, previous };
};

/** The exception on arrival in `status`, if the last one will be `last`. */
const exceptionAt = (exception: PaymentException | null, status: PaymentStatus, last: PaymentException | null) => {
  if (status === 'reversed') return 'reorged';
  if (exception === 'reorged' && status === 'confirming') return 'reorged';
  return exception === last ? last : null;
};

/**
 * The moves from one state to another. `late` is reported before `confirming`, so that no event shows late funds as
 * ordinary ones. Any other exception is reported after its status.
 */
export const walk = (from: PaymentState, to: PaymentState): readonly Move[] => {
  const moves: Move[] = [];
  let at: PaymentState = { status: from.status, exception: from.exception };
  const step = (next: PaymentState, event: PaymentEventType): void => {
    moves.push(moveTo(at, next, event));
    at = next;
  };
  const beginException = (): void => {
    if (to.exception === null || to.exception === 'reorged' || to.exception === at.exception) return;
    step({ status: at.status, exception: to.exception }, exceptionEvent[to.exception]);
  };
  for (const status of legalPath(from.status, to.status)) {
    if (status === 'confirming' && to.exception === 'late' && at.exception !== 'reorged') beginException();
    step({ status, exception: exceptionAt(at.exception, status, to.exception) }, edgeEvent(at.status, status));
    if (status === 'confirming' && at.exception !== 'reorged') beginException();
  }
  beginException();
  if (at.exception !== to.exception) step({ status: at.status, exception: to.exception }, clearedEvent[at.status]);
  return moves;
};

/** The move for more funds without a change of state; null if no event is needed. */
export const moreFunds = (state: PaymentState): Move | null => {
  if (state.exception === 'reorged') return null;
  if (state.exception !== null) return moveTo(state, state, exceptionEvent[state.exception]);
  return state.status === 'completed' ? moveTo(state, state, 'payment.completed') : null;
};

export const firstFunds = (state: PaymentState): Move => moveTo(state, state, 'payment.detected');
export const strayFunds = (state: PaymentState): Move => moveTo(state, state, 'payment.stray');
