import Type, { type Static } from 'typebox';
import { eventTypes, exceptions, paymentStatuses } from '../core/payment/states.ts';
import { deliveryStatuses } from '../storage/deliveryLog.ts';
import { choice, limit, nullable, payment, storable, strict, text, time, whole } from './schemas.ts';

const cursor = Type.Optional(
  Type.String({ maxLength: 40, description: 'Continue after the page whose nextCursor this is.' }),
);
const [from, to] = ['From this ISO 8601 date or time on.', 'Up to this one; a bare date means its whole UTC day.'].map(
  description => Type.String({ maxLength: 64, description }),
) as [ReturnType<typeof Type.String>, ReturnType<typeof Type.String>];

/** Feeds have cursors instead of a total, because counting gets slower as they grow. */
export const feedOf = (item: Parameters<typeof Type.Array>[0]) =>
  Type.Object({
    data: Type.Array(item),
    pagination: Type.Object({
      limit: whole('Results a page, as asked for.'),
      hasMore: Type.Boolean({ description: 'Whether there are results after these.' }),
      nextCursor: nullable(text('What to ask for the next page with; null after the last.')),
    }),
  });

export const eventQuery = Type.Object(
  {
    limit,
    cursor,
    type: Type.Optional(choice(eventTypes, 'Only events of this kind.')),
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
    endpointId: nullable(text('The endpoint that is tested; null for all who subscribe.')),
    test: Type.Literal(true, { description: 'Always true.' }),
  },
  { description: 'Of webhook.test.' },
);

export const event = Type.Object({
  id: Type.String({ pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}$', description: 'Names the event; equal on every retry.' }),
  type: choice(eventTypes, 'What happened.'),
  timestamp: time('When it happened.'),
  apiVersion: Type.Literal('v1', { description: 'Version of the payment object.' }),
  environment: text('Where it happened.'),
  sequence: whole('Counts up per payment, so that a receiver can order them.'),
  data: Type.Union([payment, testData], { description: 'The payment as it was then; no payment for webhook.test.' }),
  previous: Type.Object(
    {
      status: nullable(choice(paymentStatuses, 'Where it stood before; null for a new one.')),
      exception: nullable(choice(exceptions, 'What was out of the ordinary before.')),
    },
    { description: 'What it changed from.' },
  ),
});

export const feedQuery = Type.Object({ limit, cursor }, strict);
export type FeedQuery = Static<typeof feedQuery>;

export const deliveryQuery = Type.Object(
  { limit, cursor, status: Type.Optional(choice(deliveryStatuses, 'Only deliveries that stand here.')) },
  strict,
);
export type DeliveryQuery = Static<typeof deliveryQuery>;

/**
 * Only one value: others would need an index that every delivery pays for. Required, because without it a client would
 * expect all deliveries.
 */
export const parkedQuery = Type.Object(
  {
    status: choice(['parked'], 'Required: only what was given up is listed across endpoints, and others may follow.'),
    limit,
    cursor,
  },
  strict,
);
export type ParkedQuery = Static<typeof parkedQuery>;

export const delivery = Type.Object({
  id: Type.String({ pattern: '^dlv_[0-9a-z]{26}$', description: 'Names the delivery.' }),
  eventId: text('The event that it carries.'),
  type: text('Kind of the event.'),
  endpointId: nullable(text('The endpoint it goes to; null for a callbackUrl.')),
  url: text('Where it goes.'),
  status: choice(deliveryStatuses, 'scheduled: an attempt is ahead. parked: undelivered, and not tried any more.'),
  attempts: whole('How often it was sent.'),
  nextAttemptAt: nullable(time('When it is sent next; null where it is not.')),
  parkedReason: nullable(text('Why it is not tried any more.')),
  createdAt: time('UTC, milliseconds.'),
  finishedAt: nullable(time('When it succeeded or was parked.')),
});

const attempt = Type.Object({
  at: time('When it was sent.'),
  request: Type.Object(
    {
      url: text('Where it went.'),
      headers: Type.Record(Type.String(), Type.String(), {
        description: 'As sent, apart from those of the connection.',
      }),
    },
    { description: 'What was sent; its body is the event.' },
  ),
  statusCode: nullable(whole('What the receiver answered; null where it did not.')),
  error: nullable(text('Why it was not delivered; null where it was.')),
  durationMs: whole('How long it took, in milliseconds.'),
  response: text("The first 16 KiB of the receiver's answer."),
});
export const shownDelivery = Type.Object({
  ...delivery.properties,
  log: Type.Array(attempt, { description: 'Its attempts, the latest first; fifty at most.' }),
});

export const replayRequest = Type.Object({ from, to }, strict);
export type ReplayRequestBody = Static<typeof replayRequest>;
export const replayed = Type.Object({ scheduled: whole('How many events will be sent.') });
