import Type from 'typebox';
import { strict } from '../../core/api/fields.ts';
import type { DeliveryOfPayment, ShownTestResult } from '../../core/api/setupApi.ts';
import { endpointPatch, endpointRequest } from '../../core/api/webhookEndpoint.ts';
import { deliveryStatuses } from '../../core/delivery.ts';
import type { Scope } from '../../core/environment.ts';
import { invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { type EventType, eventTypes } from '../../core/payment/states.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { deliveryObject, findDelivery, replayEvents, resendDelivery } from '../../engine/webhooks/deliveries.ts';
import { forgeryOf } from '../../engine/webhooks/eventSeal.ts';
import {
  changeEndpoint,
  createEndpoint,
  endpointObject,
  findEndpoint,
  removeEndpoint,
  revealSecret,
  rotateSecret,
  sendTest,
} from '../../engine/webhooks/webhookEndpoints.ts';
import { type DeliveryRow, listDeliveries } from '../../storage/webhooks/deliveryLog.ts';
import { type EndpointRow, listEndpoints } from '../../storage/webhooks/endpoints.ts';
import { timeRange } from '../v1/paymentRoutes.ts';
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

const test = async (context: Context, scope: Scope, row: EndpointRow, type: EventType): Promise<ShownTestResult> => {
  const { eventId: _, ...result } = await sendTest(context, scope, row, { type, trace: null });
  return result;
};

const shownDelivery = (row: DeliveryRow): DeliveryOfPayment => ({ ...deliveryObject(row), paymentId: row.paymentId });

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
    stepUp: 'environment',
    body: endpointRequest,
    /** The endpoint stays even if the ping fails: its receiver may be built later. */
    async handle(call) {
      const { row, secret } = await perform(context, actingOf(call), null, createEndpoint(context, call.body));
      return { endpoint: endpointObject(row), secret, ping: await test(context, call.scope, row, 'webhook.test') };
    },
  }),
  route({
    name: 'GET /webhooks/:id',
    action: 'webhooks.read',
    handle: async ({ scope, params }) => endpointObject(await findEndpoint(context, scope, params.id!)),
  }),
  route({
    name: 'PATCH /webhooks/:id',
    action: 'webhooks.manage',
    stepUp: 'environment',
    body: endpointPatch,
    handle: async call =>
      endpointObject(await perform(context, actingOf(call), null, changeEndpoint(context, call.params.id!, call.body))),
  }),
  route({
    // Without a proof, a thief with a session could silence the merchant.
    name: 'DELETE /webhooks/:id',
    action: 'webhooks.manage',
    stepUp: 'environment',
    async handle(call) {
      await perform(context, actingOf(call), null, removeEndpoint(context, call.params.id!));
      return { done: true } as const;
    },
  }),
];

const secrets = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /webhooks/:id/reveal',
    action: 'secrets.reveal',
    stepUp: 'environment',
    handle: async call => ({
      secret: await perform(context, actingOf(call), null, revealSecret(context, call.params.id!)),
    }),
  }),
  // Needs a step-up, because the response contains the new secret.
  route({
    name: 'POST /webhooks/:id/rotate',
    action: 'webhooks.manage',
    stepUp: 'environment',
    async handle(call) {
      const { secret } = await perform(context, actingOf(call), null, rotateSecret(context, call.params.id!));
      return { secret };
    },
  }),
];

const showLog = async (context: Context, call: DashboardCall<'GET /webhooks/:id/deliveries'>) => {
  const { status = null, limit = defaultLimit, cursor = null } = call.query;
  if (cursor !== null && !isId('delivery', cursor)) throw invalid('cursor', 'cursor must be the nextCursor of a page.');
  const { id } = await findEndpoint(context, call.scope, call.params.id!);
  const rows = await listDeliveries(context.listDb, call.scope, id, { status, before: cursor, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const data = page.filter(row => forgeryOf(context, row) === null).map(shownDelivery);
  const hasMore = rows.length > limit;
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? page.at(-1)!.id : null } };
};

const showOne = async (context: Context, { scope, params }: DashboardCall<'GET /deliveries/:id'>) => {
  const { row, log } = await findDelivery(context, scope, params.id!);
  return { ...shownDelivery(row), log, body: row.body };
};

const sending = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /webhooks/:id/test',
    action: 'webhooks.manage',
    body: testKind,
    async handle({ scope, params, body }) {
      const row = await findEndpoint(context, scope, params.id!);
      return test(context, scope, row, body.type);
    },
  }),
  route({
    name: 'POST /webhooks/:id/replay',
    action: 'deliveries.resend',
    body: range,
    async handle(call) {
      const { fromMs, toMs } = timeRange(call.body);
      const asked = { fromMs: Math.max(fromMs!, 0), toMs: Math.max(toMs!, 0) };
      return { scheduled: await replayEvents(context, actingOf(call), call.params.id!, asked) };
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
    handle: async call =>
      shownDelivery(await perform(context, actingOf(call), null, resendDelivery(context, call.params.id!))),
  }),
];

/** Webhook endpoints, their secrets and their deliveries. */
export const dashboardWebhooks = (context: Context): DashboardRoute[] => [
  ...managing(context),
  ...secrets(context),
  ...sending(context),
];
