import {
  isLegalEdge,
  type PaymentEventType,
  type PaymentException,
  type PaymentState,
  type PaymentStatus,
} from './states.ts';

/** One entry of a payment's history, with its one event. */
export type Move = PaymentState & { readonly event: PaymentEventType; readonly previous: PaymentState };

/**
 * Which event tells which entry:
 *
 * | entry                                              | event                                        |
 * |----------------------------------------------------|----------------------------------------------|
 * | creation                                           | payment.created (told by the creation itself) |
 * | first funds seen, unconfirmed or in a block        | payment.detected                             |
 * | any status → confirming                            | payment.confirming                           |
 * | confirming → completed                             | payment.completed                            |
 * | pending → expired                                  | payment.expired                              |
 * | pending → canceled                                 | payment.canceled                             |
 * | confirming → pending or expired                    | payment.reverted                             |
 * | completed or confirming → reversed (+ reorged)     | payment.reversed                             |
 * | exception becomes underpaid, overpaid or late      | payment.underpaid, .overpaid, .late          |
 * | more funds under the same one of these             | the same event again                         |
 * | exception ends without a change of status          | see `restated`                               |
 * | a stray                                            | payment.stray                                |
 *
 * An exception that ends together with a change of status is part of that entry. One that begins has its own, so
 * that a receiver who subscribed to `payment.late` alone hears of every late payment. The exception `reorged` begins
 * with the reversal and needs no further word.
 */
const edgeEvent = (from: PaymentStatus, to: PaymentStatus): PaymentEventType =>
  from === 'confirming' && (to === 'pending' || to === 'expired') ? 'payment.reverted' : arrival[to];

const arrival: Readonly<Record<PaymentStatus, PaymentEventType>> = {
  pending: 'payment.reverted',
  confirming: 'payment.confirming',
  completed: 'payment.completed',
  expired: 'payment.expired',
  canceled: 'payment.canceled',
  reversed: 'payment.reversed',
};

const onset: Readonly<Record<Exclude<PaymentException, 'reorged'>, PaymentEventType>> = {
  late: 'payment.late',
  overpaid: 'payment.overpaid',
  underpaid: 'payment.underpaid',
};

/**
 * In a waiting or ended payment an exception ends only because a reorg took the funds; in the two paid ones it may
 * also end because the missing rest came, and their own event says best what holds now.
 */
const restated: Readonly<Record<PaymentStatus, PaymentEventType>> = {
  ...arrival,
  expired: 'payment.reverted',
  canceled: 'payment.reverted',
};

/**
 * The statuses to pass on the way, the last included. A jump over facts not seen in between leads through confirming
 * into completed and through reversed out of it; any other distance between two decisions is a fault.
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

/** What the exception becomes on the way into `status`, when it will be `last` in the end. */
const carried = (exception: PaymentException | null, status: PaymentStatus, last: PaymentException | null) => {
  if (status === 'reversed') return 'reorged';
  if (exception === 'reorged' && status === 'confirming') return 'reorged';
  return exception === last ? last : null;
};

/**
 * The moves from one state to another. Lateness is told before the payment turns to confirming, so that no event
 * shows late funds as ordinary ones; any other exception after the status that it belongs to.
 */
export const walk = (from: PaymentState, to: PaymentState): readonly Move[] => {
  const moves: Move[] = [];
  let at: PaymentState = { status: from.status, exception: from.exception };
  const go = (next: PaymentState, event: PaymentEventType): void => {
    moves.push(moveTo(at, next, event));
    at = next;
  };
  const begin = (): void => {
    if (to.exception === null || to.exception === 'reorged' || to.exception === at.exception) return;
    go({ status: at.status, exception: to.exception }, onset[to.exception]);
  };
  for (const status of legalPath(from.status, to.status)) {
    if (status === 'confirming' && to.exception === 'late' && at.exception !== 'reorged') begin();
    go({ status, exception: carried(at.exception, status, to.exception) }, edgeEvent(at.status, status));
    if (status === 'confirming' && at.exception !== 'reorged') begin();
  }
  begin();
  if (at.exception !== to.exception) go({ status: at.status, exception: to.exception }, restated[at.status]);
  return moves;
};

/** The move for funds that change the sum and no word of the state; null where nobody needs to hear of it. */
export const moreFunds = (state: PaymentState): Move | null => {
  if (state.exception === 'reorged') return null;
  if (state.exception !== null) return moveTo(state, state, onset[state.exception]);
  return state.status === 'completed' ? moveTo(state, state, 'payment.completed') : null;
};

export const firstFunds = (state: PaymentState): Move => moveTo(state, state, 'payment.detected');
export const strayFunds = (state: PaymentState): Move => moveTo(state, state, 'payment.stray');
