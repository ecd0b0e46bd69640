import Type, { type Static } from 'typebox';
import { deliveryStatuses } from '../delivery.ts';
import { choice, dateOrTime, nullable, strict, text, time, whole } from './fields.ts';
import { cursor, feedOf, limit } from './listPage.ts';

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
export type Delivery = Static<typeof delivery>;

export const deliveryList = feedOf(delivery);

export const deliveryAttempt = Type.Object({
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
export type DeliveryAttempt = Static<typeof deliveryAttempt>;

export const deliveryWithLog = Type.Object({
  ...delivery.properties,
  log: Type.Array(deliveryAttempt, { description: 'The last 50 attempts, newest first.' }),
});

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

export const replayRequest = Type.Object(
  {
    from: dateOrTime('At or after this ISO 8601 date or time.'),
    to: dateOrTime('At or before this one. A date without a time means the whole UTC day.'),
  },
  strict,
);
export type ReplayRequest = Static<typeof replayRequest>;

export const replay = Type.Object({ scheduled: whole('Number of events that will be sent.') });
export type Replay = Static<typeof replay>;
