import Type, { type Static } from 'typebox';
import { eventTypes, exceptions, paymentStatuses } from '../../core/payment/states.ts';
import { deliveryStatuses } from '../../storage/webhooks/deliveryLog.ts';
import { choice, limit, nullable, payment, storable, strict, text, time, whole } from './schemas.ts';

const cursor = Type.Optional(Type.String({ maxLength: 40, description: 'nextCursor of the previous page.' }));
const [from, to] = [
  'At or after this ISO 8601 date or time.',
  'At or before this one. A date without a time means the whole UTC day.',
].map(description => Type.String({ maxLength: 64, description })) as [
  ReturnType<typeof Type.String>,
  ReturnType<typeof Type.String>,
];

/** Feeds have cursors instead of a total, because counting gets slower as they grow. */
export const feedOf = (item: Parameters<typeof Type.Array>[0]) =>
  Type.Object({
    data: Type.Array(item),
    pagination: Type.Object({
      limit: whole('Results per page, as requested.'),
      hasMore: Type.Boolean({ description: 'Whether there are more results.' }),
      nextCursor: nullable(text('Send it as cursor to get the next page; null on the last page.')),
    }),
  });

export const eventQuery = Type.Object(
  {
    limit,
    cursor,
    type: Type.Optional(choice(eventTypes, 'Only events of this type.')),
    paymentId: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 40, description: 'Only events of this payment.' }),
    ),
    from: Type.Optional(from),
    to: Type.Optional(to),
  },
  strict,
);
export type EventQuery = Static<typeof eventQuery>;

/** The data of a webhook.test event, which has no payment. */
const testData = Type.Object(
  {
    endpointId: nullable(text('Endpoint under test; null for all endpoints that subscribe.')),
    test: Type.Literal(true, { description: 'Always true.' }),
  },
  { description: 'Data of webhook.test.' },
);

export const event = Type.Object({
  id: Type.String({
    pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}$',
    description: 'Id of the event; the same on every retry.',
  }),
  type: choice(eventTypes, 'What happened.'),
  timestamp: time('When it happened.'),
  apiVersion: Type.Literal('v1', { description: 'Version of the payment object.' }),
  environment: text('Environment of the event.'),
  sequence: whole('Increases with each event of a payment. Use it to order events.'),
  data: Type.Union([payment, testData], {
    description: 'The payment at the time of the event; no payment for webhook.test.',
  }),
  previous: Type.Object(
    {
      status: nullable(choice(paymentStatuses, 'Status before the event; null for a new payment.')),
      exception: nullable(choice(exceptions, 'Exception before the event.')),
    },
    { description: 'State before the event.' },
  ),
});

export const feedQuery = Type.Object({ limit, cursor }, strict);
export type FeedQuery = Static<typeof feedQuery>;

export const deliveryQuery = Type.Object(
  { limit, cursor, status: Type.Optional(choice(deliveryStatuses, 'Only deliveries with this status.')) },
  strict,
);
export type DeliveryQuery = Static<typeof deliveryQuery>;

/**
 * Only one value: others would need an index that every delivery pays for. Required, because without it a client would
 * expect all deliveries.
 */
export const parkedQuery = Type.Object(
  {
    status: choice(['parked'], 'Required. The only value is parked: deliveries that were given up.'),
    limit,
    cursor,
  },
  strict,
);
export type ParkedQuery = Static<typeof parkedQuery>;

export const delivery = Type.Object({
  id: Type.String({ pattern: '^dlv_[0-9a-z]{26}$', description: 'Id of the delivery.' }),
  eventId: text('Id of the event.'),
  type: text('Type of the event.'),
  endpointId: nullable(text('Id of the endpoint; null for a callbackUrl.')),
  url: text('URL that receives it.'),
  status: choice(deliveryStatuses, 'scheduled: another attempt follows. parked: given up.'),
  attempts: whole('Number of attempts so far.'),
  nextAttemptAt: nullable(time('Time of the next attempt; null if there is none.')),
  parkedReason: nullable(text('Why it was given up.')),
  createdAt: time('UTC, milliseconds.'),
  finishedAt: nullable(time('When it succeeded or was given up.')),
});

const attempt = Type.Object({
  at: time('Time of the attempt.'),
  request: Type.Object(
    {
      url: text('URL that was called.'),
      headers: Type.Record(Type.String(), Type.String(), {
        description: 'Headers that were sent, except those of the connection.',
      }),
    },
    { description: 'The request. Its body is the event.' },
  ),
  statusCode: nullable(whole('Status of the response; null without a response.')),
  error: nullable(text('Why it failed; null if it was delivered.')),
  durationMs: whole('Duration in milliseconds.'),
  response: text('First 16 KiB of the response.'),
});
export const shownDelivery = Type.Object({
  ...delivery.properties,
  log: Type.Array(attempt, { description: 'The last 50 attempts, newest first.' }),
});

export const replayRequest = Type.Object({ from, to }, strict);
export type ReplayRequestBody = Static<typeof replayRequest>;
export const replayed = Type.Object({ scheduled: whole('Number of events that will be sent.') });
