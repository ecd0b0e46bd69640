export const paymentStatuses = ['pending', 'confirming', 'completed', 'expired', 'canceled', 'reversed'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** By precedence: if several apply, the first in this list is shown. */
export const exceptions = ['reorged', 'late', 'overpaid', 'underpaid'] as const;
export type PaymentException = (typeof exceptions)[number];

/**
 * The legal edges. The database has the same list as a constraint. `canceled → confirming` happens by resolve only, and
 * `confirming → reversed` only to a payment that was completed before.
 */
export const legalEdges: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  pending: ['confirming', 'expired', 'canceled'],
  confirming: ['completed', 'pending', 'expired', 'reversed'],
  completed: ['reversed'],
  expired: ['confirming'],
  canceled: ['confirming'],
  reversed: ['confirming'],
};

export const isLegalEdge = (from: PaymentStatus, to: PaymentStatus): boolean => legalEdges[from].includes(to);

/** Events that are part of a payment's history. */
export const paymentEventTypes = [
  'payment.created',
  'payment.detected',
  'payment.underpaid',
  'payment.confirming',
  'payment.completed',
  'payment.overpaid',
  'payment.expired',
  'payment.late',
  'payment.canceled',
  'payment.reverted',
  'payment.reversed',
  'payment.stray',
] as const;
export type PaymentEventType = (typeof paymentEventTypes)[number];

export const eventTypes = [...paymentEventTypes, 'account.security', 'webhook.test'] as const;
export type EventType = (typeof eventTypes)[number];

/** What `*` subscribes to. Security events must be named, so that receivers of payments never get one by surprise. */
export const starEventTypes = eventTypes.filter(type => type !== 'account.security');

export type PaymentState = { readonly status: PaymentStatus; readonly exception: PaymentException | null };
