import Type, { type Static, type TSchema } from 'typebox';
import { actorKinds } from '../outbox.ts';
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

const headOf = <Name extends TSchema>(type: Name) => ({
  id: Type.String({
    pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}$',
    description: 'Id of the event; the same on every retry.',
  }),
  type,
  timestamp: time('When it happened.'),
  apiVersion: Type.Literal('v1', { description: 'Version of the event.' }),
  environment: text('Environment of the event.'),
});

const eventOf = <Name extends TSchema, Data extends TSchema>(type: Name, data: Data) =>
  Type.Object({
    ...headOf(type),
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

/** Has no payment, so it has neither `sequence` nor `previous`. */
export const securityEvent = Type.Object({
  ...headOf(Type.Literal('account.security', { description: 'What happened.' })),
  data: Type.Object(
    {
      action: text('The act, by its name in the audit log. Later versions add names.'),
      actor: Type.Object(
        {
          kind: choice(actorKinds, 'A key, a person, the operator at the command line, or Florin itself.'),
          id: nullable(text('Id of the key or person; null for the others.')),
        },
        { description: 'Who acted.' },
      ),
      subject: nullable(text('What it was done to: an id or a network.')),
      at: time('When it was done.'),
    },
    { description: 'The act.' },
  ),
});

/** What a receiver gets. */
export const event = Type.Union([paymentEvent, securityEvent, testEvent], { description: 'An event, by its type.' });

export const eventList = feedOf(
  Type.Union([paymentEvent, securityEvent], { description: 'An event that is stored, by its type.' }),
);

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
