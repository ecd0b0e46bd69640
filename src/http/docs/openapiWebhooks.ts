import { eventText } from '../../core/payment/eventText.ts';
import { type EventType, eventTypes } from '../../core/payment/states.ts';
import { renderTestEvent } from '../../engine/webhooks/testEvent.ts';
import { exampleIds } from './docsExamples.ts';
import { baseUrl, type DocsPlace } from './docsPlace.ts';

export type WebhookOperation = {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { $ref: string }[];
  requestBody: { required: true; content: { 'application/json': { schema: unknown; example: unknown } } };
  responses: Record<string, { description: string }>;
};

/** The headers of Standard Webhooks, by the name of their component. */
const webhookHeaders = {
  WebhookId: ['webhook-id', 'Id of the event; the same on every attempt.'],
  WebhookTimestamp: ['webhook-timestamp', 'Time of the attempt, in seconds since 1970.'],
  WebhookSignature: ['webhook-signature', 'Signatures of id, timestamp and body, separated by spaces. Verify one.'],
} as const;

export const webhookParameters = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(webhookHeaders).map(([component, [name, description]]) => [
      component,
      { name, in: 'header', required: true, schema: { type: 'string' }, description },
    ]),
  );

/** payment.created becomes onPaymentCreated. */
const operationIdOf = (type: EventType): string =>
  `on.${type}`.replaceAll(/\.([a-z])/g, (_, first: string) => first.toUpperCase());

const atMs = Date.parse('2026-01-15T09:30:00Z');

const exampleEvent = (type: EventType, place: DocsPlace): unknown => {
  const { environment } = place;
  const event = { id: exampleIds.event, type, atMs, environment, endpointId: exampleIds.endpoint };
  return JSON.parse(renderTestEvent({ checkoutUrl: `${baseUrl(place)}/checkout` }, event));
};

/** The events without a payment. */
const schemaOf: Partial<Record<EventType, string>> = {
  'account.security': 'SecurityEvent',
  'webhook.test': 'TestEvent',
};

const webhookOf = (type: EventType, place: DocsPlace): WebhookOperation => ({
  operationId: operationIdOf(type),
  summary: eventText[type],
  tags: ['Events'],
  parameters: Object.keys(webhookHeaders).map(name => ({ $ref: `#/components/parameters/${name}` })),
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${schemaOf[type] ?? 'PaymentEvent'}` },
        example: exampleEvent(type, place),
      },
    },
  },
  responses: {
    '2XX': { description: 'Received. Florin does not send the event again.' },
    '410': { description: 'Gone. Florin disables the endpoint.' },
    default: { description: 'Florin sends the event again later.' },
  },
});

/** What Florin sends to endpoints and callback URLs, by event type. */
export const openApiWebhooks = (place: DocsPlace): Record<string, { post: WebhookOperation }> =>
  Object.fromEntries(eventTypes.map(type => [type, { post: webhookOf(type, place) }]));
