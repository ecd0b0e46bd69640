import Type from 'typebox';
import type { Attempt } from '../../core/dashboard/setupApi.ts';
import { invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { type EventType, eventTypes } from '../../core/payment/states.ts';
import type { Context } from '../../engine/context.ts';
import {
  changeEndpointAs,
  createEndpointAs,
  deleteEndpointAs,
  deliveryObject,
  endpointObject,
  replayEventsAs,
  resendDeliveryAs,
  revealSecretAs,
  rotateSecretAs,
  testEndpointAs,
} from '../../engine/dashboard/webhooks.ts';
import { findDelivery } from '../../engine/deliveries.ts';
import { findEndpoint } from '../../engine/webhookEndpoints.ts';
import { deliveryStatuses, listDeliveries } from '../../storage/deliveryLog.ts';
import { listEndpoints } from '../../storage/endpoints.ts';
import { readEvent } from '../../storage/eventLog.ts';
import { timeRange } from '../paymentRoutes.ts';
import { endpointPatch, endpointRequest, strict } from '../schemas.ts';
import { actingOf } from './actingOf.ts';
import { type DashboardCall, type DashboardRoute, route } from './dashboardRoute.ts';

/** More than an account can have. */
const allEndpoints = { limit: 100, offset: 0 };
const defaultLimit = 20;

const deliveryQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...deliveryStatuses])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 40 })),
  },
  strict,
);
const testKind = Type.Object({ type: Type.Enum([...eventTypes]) }, strict);
const range = Type.Object({ from: Type.String({ maxLength: 64 }), to: Type.String({ maxLength: 64 }) }, strict);

const managing = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /webhooks',
    action: 'webhooks.read',
    async handle({ scope }) {
      const { rows } = await listEndpoints(context.db, scope, allEndpoints);
      return { data: rows.map(endpointObject) };
    },
  }),
  route({
    // An endpoint receives everything about payments, so a new one needs a step-up.
    name: 'POST /webhooks',
    action: 'webhooks.manage',
    stepUp: true,
    body: endpointRequest,
    handle: call => createEndpointAs(context, actingOf(call), call.body),
  }),
  route({
    name: 'GET /webhooks/:id',
    action: 'webhooks.read',
    handle: async ({ scope, params }) => endpointObject(await findEndpoint(context, scope, params.id!)),
  }),
  route({
    name: 'PATCH /webhooks/:id',
    action: 'webhooks.manage',
    stepUp: true,
    body: endpointPatch,
    handle: call => changeEndpointAs(context, actingOf(call), call.params.id!, call.body),
  }),
  route({
    name: 'DELETE /webhooks/:id',
    action: 'webhooks.manage',
    handle: call => deleteEndpointAs(context, actingOf(call), call.params.id!),
  }),
];

const secrets = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /webhooks/:id/reveal',
    action: 'secrets.reveal',
    stepUp: true,
    handle: call => revealSecretAs(context, actingOf(call), call.params.id!),
  }),
  // Needs a step-up, because the response contains the new secret.
  route({
    name: 'POST /webhooks/:id/rotate',
    action: 'webhooks.manage',
    stepUp: true,
    handle: call => rotateSecretAs(context, actingOf(call), call.params.id!),
  }),
];

const showLog = async (context: Context, call: DashboardCall<'GET /webhooks/:id/deliveries'>) => {
  const { status = null, limit = defaultLimit, cursor = null } = call.query;
  if (cursor !== null && !isId('delivery', cursor)) throw invalid('cursor', 'cursor must be the nextCursor of a page.');
  const { id } = await findEndpoint(context, call.scope, call.params.id!);
  const rows = await listDeliveries(context.listDb, call.scope, id, { status, before: cursor, limit: limit + 1 });
  const data = rows.slice(0, limit).map(deliveryObject);
  const hasMore = rows.length > limit;
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? data.at(-1)!.id : null } };
};

const showOne = async (context: Context, { scope, params }: DashboardCall<'GET /deliveries/:id'>) => {
  const { row, log } = await findDelivery(context, scope, params.id!);
  const event = await readEvent(context.db, scope, row.eventId);
  const attempts = log.map(
    (each, i): Attempt => ({
      number: Math.max(row.attempts, log.length) - i,
      startedAt: each.at,
      durationMs: each.durationMs,
      statusCode: each.statusCode,
      error: each.error,
      url: each.request.url,
      requestHeaders: each.request.headers,
      responseBody: each.statusCode === null ? null : each.response,
    }),
  );
  return { delivery: deliveryObject(row), attempts, body: event?.body ?? '' };
};

const sending = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /webhooks/:id/test',
    action: 'webhooks.manage',
    body: testKind,
    handle: call => testEndpointAs(context, actingOf(call), call.params.id!, call.body.type as EventType),
  }),
  route({
    name: 'POST /webhooks/:id/replay',
    action: 'deliveries.resend',
    body: range,
    async handle(call) {
      const { fromMs, toMs } = timeRange(call.body);
      const asked = { fromMs: Math.max(fromMs!, 0), toMs: Math.max(toMs!, 0) };
      return replayEventsAs(context, actingOf(call), call.params.id!, asked);
    },
  }),
  route({
    name: 'GET /webhooks/:id/deliveries',
    action: 'deliveries.read',
    query: deliveryQuery,
    handle: call => showLog(context, call),
  }),
  route({ name: 'GET /deliveries/:id', action: 'deliveries.read', handle: call => showOne(context, call) }),
  route({
    name: 'POST /deliveries/:id/resend',
    action: 'deliveries.resend',
    handle: call => resendDeliveryAs(context, actingOf(call), call.params.id!),
  }),
];

/** Webhook endpoints, their secrets and their deliveries. */
export const dashboardWebhooks = (context: Context): DashboardRoute[] => [
  ...managing(context),
  ...secrets(context),
  ...sending(context),
];
