import type { EventType } from '../../../src/core/payment/states.ts';

/** One line for each kind, in the words of the guide. */
export const eventText: Readonly<Record<EventType, string>> = {
  'payment.created': 'It was created.',
  'payment.detected': 'The first funds were seen; nothing is final.',
  'payment.underpaid': 'Less than the amount has arrived.',
  'payment.confirming': 'The full amount is on chain, not yet final.',
  'payment.completed': 'The amount is final. Deliver the goods on this one.',
  'payment.overpaid': 'More than the amount has arrived.',
  'payment.expired': 'The time ran out first.',
  'payment.late': 'Funds arrived after that, or on a canceled payment.',
  'payment.canceled': 'You called it off.',
  'payment.reverted': 'A reorg took the funds of a payment that was not completed.',
  'payment.reversed': 'A reorg took the funds of a completed payment. Stop the delivery if you can.',
  'payment.stray': 'Another token, or on another network; not credited.',
  'webhook.test': 'The test call; its data is no payment.',
};

export const eventNames = Object.keys(eventText) as EventType[];

/** What can be subscribed to: a test goes where it is sent. */
export const pickableEvents = eventNames.filter(name => name !== 'webhook.test');

export const eventsText = (events: readonly string[]): string =>
  events.includes('*') ? 'All events' : events.length === 1 ? events[0]! : `${events.length} kinds of events`;
