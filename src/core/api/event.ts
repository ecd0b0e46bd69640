import Type, { type Static, type TSchema } from 'typebox';
import { eventTypes, exceptions, paymentEventTypes, paymentStatuses } from '../payment/states.ts';
import { choice, dateOrTime, nullable, storable, strict, text, time, whole } from './fields.ts';
import { cursor, feedOf, limit } from './listPage.ts';
import { payment } from './payment.ts';

export const previousState = Type.Object(
  {
    status: nullable(choice(paymentStatuses, 'Status before the event; null for a new payment.')),
    exception: nullable(choice(exceptions, 'Exception before the event.')),
  },
  { description: 'State before the event.' },
);

const eventOf = <Name extends TSchema, Data extends TSchema>(type: Name, data: Data) =>
  Type.Object({
    id: Type.String({
      pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}$',
      description: 'Id of the event; the same on every retry.',
    }),
    type,
    timestamp: time('When it happened.'),
    apiVersion: Type.Literal('v1', { description: 'Version of the payment object.' }),
    environment: text('Environment of the event.'),
    sequence: whole('Increases with each event of a payment. Use it to order events.'),
    data,
    previous: previousState,
  });

export const paymentEvent = eventOf(
  choice(paymentEventTypes, 'What happened.'),
  Type.Object(payment.properties, { description: 'The payment at the time of the event.' }),
);

/** Is sent on request and not stored. */
export const testEvent = eventOf(
  Type.Literal('webhook.test', { description: 'What happened.' }),
  Type.Object(
    {
      endpointId: nullable(text('Endpoint under test; null for all endpoints that subscribe.')),
      test: Type.Literal(true, { description: 'Always true.' }),
    },
    { description: 'Data of webhook.test.' },
  ),
);

/** What a receiver gets. */
export const event = Type.Union([paymentEvent, testEvent], { description: 'An event, by its type.' });

export const eventList = feedOf(paymentEvent);

export const eventQuery = Type.Object(
  {
    limit,
    cursor,
    type: Type.Optional(choice(eventTypes, 'Only events of this type.')),
    paymentId: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 40, description: 'Only events of this payment.' }),
    ),
    from: Type.Optional(dateOrTime('At or after this ISO 8601 date or time.')),
    to: Type.Optional(dateOrTime('At or before this one. A date without a time means the whole UTC day.')),
  },
  strict,
);
export type EventQuery = Static<typeof eventQuery>;
