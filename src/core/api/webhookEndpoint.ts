import Type, { type Static } from 'typebox';
import { eventTypes } from '../payment/states.ts';
import { choice, nullable, storable, strict, text, time, url, whole } from './fields.ts';
import { listOf } from './listPage.ts';

export const subscription = Type.Array(Type.Enum(['*', ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
  description: 'Event types to receive; ["*"] for all but account.security, which must be named.',
});
const note = nullable(Type.String({ ...storable, maxLength: 1000, description: 'Your own note.' }));
const endpointStatus = choice(['enabled', 'disabled'], 'A disabled endpoint receives only test events.');

export const endpointRequest = Type.Object(
  {
    url: url('https: URL that receives the events.'),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
  },
  strict,
);
export type EndpointRequest = Static<typeof endpointRequest>;

export const endpointPatch = Type.Object(
  {
    url: Type.Optional(url('https: URL that receives the events.')),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
    status: Type.Optional(endpointStatus),
  },
  { ...strict, minProperties: 1 },
);
export type EndpointPatch = Static<typeof endpointPatch>;

export const endpoint = Type.Object({
  id: Type.String({ pattern: '^we_[0-9a-hjkmnp-tv-z]{26}$', description: 'Id of the endpoint.' }),
  url: text('https: URL that receives the events.'),
  events: Type.Array(Type.String(), { description: 'Event types it receives; ["*"] for all.' }),
  description: nullable(text('Your own note.')),
  status: endpointStatus,
  disabledReason: nullable(text('Why it is disabled; null while it is enabled.')),
  secret: Type.Optional(Type.String({ description: 'whsec_ and base64. Only in the responses to create and rotate.' })),
  createdAt: time('UTC, milliseconds.'),
});
export type Endpoint = Static<typeof endpoint>;

export const endpointList = listOf(endpoint);

export const deletedEndpoint = Type.Object({
  id: text('Id of the deleted object.'),
  deleted: Type.Literal(true, { description: 'Always true.' }),
});

export const testRequest = Type.Object(
  { type: Type.Optional(choice(eventTypes, 'Type of the event to send. Default: webhook.test.')) },
  strict,
);
export type TestRequest = Static<typeof testRequest>;

export const testResult = Type.Object({
  eventId: text('Id of the test event. Test events are not stored, so GET /v1/events does not return it.'),
  delivered: Type.Boolean({ description: 'Whether the receiver responded with 2xx.' }),
  statusCode: nullable(whole('Status of the response; null without a response.')),
  durationMs: whole('Duration in milliseconds.'),
  error: nullable(text('Why it failed; null if it was delivered.')),
});
export type TestResult = Static<typeof testResult>;
