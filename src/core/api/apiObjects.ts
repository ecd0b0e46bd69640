import type { TSchema } from 'typebox';
import { deliveryStatuses } from '../delivery.ts';
import { environments } from '../environment.ts';
import { eventTypes, exceptions, paymentEventTypes, paymentStatuses } from '../payment/states.ts';
import { slugs } from '../registry/backings.ts';
import * as deliveries from './delivery.ts';
import { errorObject } from './error.ts';
import * as events from './event.ts';
import { choice, finalityRule } from './fields.ts';
import { health, readiness } from './health.ts';
import { feedPagination, pagination } from './listPage.ts';
import * as networks from './network.ts';
import * as payments from './payment.ts';
import * as simulations from './simulation.ts';
import * as endpoints from './webhookEndpoint.ts';

/** The public names of the API's objects: the components of the OpenAPI document, and the types that clients get. */
export const apiObjects = {
  Payment: payments.payment,
  PaymentList: payments.paymentList,
  Transaction: payments.transaction,
  Stray: payments.stray,
  Confirmations: payments.confirmations,
  CreatePaymentRequest: payments.paymentRequest,
  ResolvePaymentRequest: payments.resolveRequest,
  SimulatePaymentRequest: simulations.simulateRequest,
  Simulation: simulations.simulation,
  Event: events.event,
  PaymentEvent: events.paymentEvent,
  SecurityEvent: events.securityEvent,
  TestEvent: events.testEvent,
  PreviousState: events.previousState,
  EventList: events.eventList,
  WebhookEndpoint: endpoints.endpoint,
  WebhookEndpointList: endpoints.endpointList,
  CreateWebhookRequest: endpoints.endpointRequest,
  UpdateWebhookRequest: endpoints.endpointPatch,
  DeletedWebhookEndpoint: endpoints.deletedEndpoint,
  EventSubscription: endpoints.subscription,
  TestWebhookRequest: endpoints.testRequest,
  WebhookTestResult: endpoints.testResult,
  Delivery: deliveries.delivery,
  DeliveryList: deliveries.deliveryList,
  DeliveryWithLog: deliveries.deliveryWithLog,
  DeliveryAttempt: deliveries.deliveryAttempt,
  ReplayWebhookRequest: deliveries.replayRequest,
  Replay: deliveries.replay,
  Network: networks.network,
  NetworkList: networks.networkList,
  Currency: networks.currency,
  Pagination: pagination,
  CursorPagination: feedPagination,
  Health: health,
  Readiness: readiness,
  Error: errorObject,
  Environment: choice(environments, 'Environment of an object.'),
  NetworkSlug: choice(slugs, 'Slug of a network.'),
  PaymentStatus: choice(paymentStatuses, 'State of a payment.'),
  PaymentException: choice(exceptions, 'What is unusual about a payment.'),
  FinalityRule: finalityRule,
  EventType: choice(eventTypes, 'Type of an event.'),
  PaymentEventType: choice(paymentEventTypes, 'Type of an event that has a payment.'),
  DeliveryStatus: choice(deliveryStatuses, 'State of a delivery.'),
} as const satisfies Record<string, TSchema>;
