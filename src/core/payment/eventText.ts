import type { EventType } from './states.ts';

/** One line for each event type. */
export const eventText: Readonly<Record<EventType, string>> = {
  'payment.created': 'The payment was created.',
  'payment.detected': 'The first money was seen. It is not final yet.',
  'payment.underpaid': 'Less than the amount has arrived.',
  'payment.confirming': 'The full amount arrived. It is not final yet.',
  'payment.completed': 'The amount is final. Ship the order on this event.',
  'payment.overpaid': 'More than the amount has arrived.',
  'payment.expired': 'The payment was not paid in time.',
  'payment.late': 'Money arrived after the payment expired or was canceled.',
  'payment.canceled': 'You canceled the payment.',
  'payment.reverted': 'A chain reorganization removed money of a payment that was not completed.',
  'payment.reversed': 'A chain reorganization removed money of a completed payment. Stop the shipment if you can.',
  'payment.stray': 'Another token arrived, or money on another network. It does not count.',
  'account.security':
    'A wallet, an owner, a sign-in, a live key, a webhook or a secret changed. Must be selected by name.',
  'webhook.test': 'A test event. Its data is not a payment.',
};
