import * as deliveries from '../../core/api/delivery.ts';
import * as events from '../../core/api/event.ts';
import { nothing } from '../../core/api/fields.ts';
import { type FeedQuery, feedQuery } from '../../core/api/listPage.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { firstIdAt, type IdKind, isId, lastIdAt } from '../../core/ids.ts';
import type { Context } from '../../engine/context.ts';
import { idempotentlyHeld } from '../../engine/idempotency.ts';
import { perform } from '../../engine/perform.ts';
import { deliveryObject, findDelivery, replayEvents, resendDelivery } from '../../engine/webhooks/deliveries.ts';
import { forgeryOf, isGenuineEvent } from '../../engine/webhooks/eventSeal.ts';
import { findEndpoint } from '../../engine/webhooks/webhookEndpoints.ts';
import { type DeliveryRow, deliveriesOfEvent, listDeliveries, listParked } from '../../storage/webhooks/deliveryLog.ts';
import { type EventRow, listEvents, readEvent } from '../../storage/webhooks/eventLog.ts';
import { idempotencyOf } from '../edge/idempotencyKey.ts';
import { type ApiRoute, actingOf, scopeOf } from '../edge/route.ts';
import { defaultPageLimit, timeRange } from './paymentRoutes.ts';

const printDelivery = (row: DeliveryRow): string => JSON.stringify(deliveryObject(row));

const cursorOf = (kind: IdKind, cursor: string | undefined): string | null => {
  if (cursor === undefined) return null;
  if (!isId(kind, cursor)) throw invalid('cursor', 'cursor must be the nextCursor of a page.');
  return cursor;
};

/**
 * `rows` has one more row than the page if there is a next page. Rows that are not as Florin wrote them are left out,
 * so that they cannot stop the others.
 */
const renderFeed = <R extends { id: string }>(
  rows: readonly R[],
  limit: number,
  isGenuine: (row: R) => boolean,
  render: (row: R) => string,
): string => {
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const pagination = { limit, hasMore, nextCursor: hasMore ? shown.at(-1)!.id : null };
  return `{"data":[${shown.filter(isGenuine).map(render).join(',')}],"pagination":${JSON.stringify(pagination)}}`;
};

const lastMs = 2 ** 48 - 1;

const findEvent = async (context: Context, scope: Scope, id: string): Promise<EventRow> => {
  const row = isId('event', id) ? await readEvent(context.db, scope, id) : null;
  if (!row || !isGenuineEvent(context, row)) throw new FlorinError('not_found', 'No event has this id.');
  return row;
};

const eventRoutes = (context: Context): ApiRoute[] => [
  {
    method: 'GET',
    path: '/v1/events',
    operationId: 'listEvents',
    summary: 'List events, newest first',
    tag: 'Webhooks',
    access: 'payments.read',
    query: events.eventQuery,
    answer: events.eventList,
    handle: async call => {
      const query = call.query as events.EventQuery;
      const { limit = defaultPageLimit, type = null, paymentId = null } = query;
      const { fromMs = 0, toMs = lastMs } = timeRange(query);
      const range = { firstId: firstIdAt('event', Math.max(fromMs, 0)), lastId: lastIdAt('event', Math.max(toMs, 0)) };
      const page = { before: cursorOf('event', query.cursor), limit: limit + 1 };
      const rows = await listEvents(context.listDb, scopeOf(call), { type, paymentId, ...range }, page);
      return {
        body: renderFeed(
          rows,
          limit,
          row => isGenuineEvent(context, row),
          row => row.body,
        ),
      };
    },
  },
  {
    method: 'GET',
    path: '/v1/events/:id',
    operationId: 'getEvent',
    summary: 'Retrieve an event, with the exact bytes that are delivered',
    tag: 'Webhooks',
    access: 'payments.read',
    answer: events.paymentEvent,
    handle: async call => ({ body: (await findEvent(context, scopeOf(call), call.params.id!)).body }),
  },
  {
    method: 'GET',
    path: '/v1/events/:id/deliveries',
    operationId: 'listEventDeliveries',
    summary: 'List the deliveries of an event, to endpoints and to callbackUrl',
    tag: 'Webhooks',
    access: 'deliveries.read',
    query: feedQuery,
    answer: deliveries.deliveryList,
    handle: async call => {
      const { limit = defaultPageLimit, cursor } = call.query as FeedQuery;
      const before = cursorOf('delivery', cursor);
      const { id } = await findEvent(context, scopeOf(call), call.params.id!);
      const rows = await deliveriesOfEvent(context.db, scopeOf(call), id, { before, limit: limit + 1 });
      return { body: renderFeed(rows, limit, row => forgeryOf(context, row) === null, printDelivery) };
    },
  },
];

const logRoutes = (context: Context): ApiRoute[] => [
  {
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries to an endpoint, newest first',
    tag: 'Webhooks',
    access: 'deliveries.read',
    query: deliveries.deliveryQuery,
    answer: deliveries.deliveryList,
    handle: async call => {
      const { limit = defaultPageLimit, status = null, cursor } = call.query as deliveries.DeliveryQuery;
      const before = cursorOf('delivery', cursor);
      const { id } = await findEndpoint(context, scopeOf(call), call.params.id!);
      const rows = await listDeliveries(context.listDb, scopeOf(call), id, { status, before, limit: limit + 1 });
      return { body: renderFeed(rows, limit, row => forgeryOf(context, row) === null, printDelivery) };
    },
  },
  {
    method: 'GET',
    path: '/v1/deliveries',
    operationId: 'listParkedDeliveries',
    summary: 'List deliveries that were given up, newest first',
    tag: 'Webhooks',
    access: 'deliveries.read',
    query: deliveries.parkedQuery,
    answer: deliveries.deliveryList,
    handle: async call => {
      const { limit = defaultPageLimit, cursor } = call.query as deliveries.ParkedQuery;
      const page = { before: cursorOf('delivery', cursor), limit: limit + 1 };
      const rows = await listParked(context.listDb, scopeOf(call), page);
      return { body: renderFeed(rows, limit, row => forgeryOf(context, row) === null, printDelivery) };
    },
  },
  {
    method: 'GET',
    path: '/v1/deliveries/:id',
    operationId: 'getDelivery',
    summary: 'Retrieve a delivery with its attempts',
    tag: 'Webhooks',
    access: 'deliveries.read',
    answer: deliveries.deliveryWithLog,
    async handle(call) {
      const { row, log } = await findDelivery(context, scopeOf(call), call.params.id!);
      return { body: JSON.stringify({ ...deliveryObject(row), log }) };
    },
  },
  {
    method: 'POST',
    path: '/v1/deliveries/:id/resend',
    operationId: 'resendDelivery',
    summary: 'Resend a delivery now',
    tag: 'Webhooks',
    access: 'deliveries.resend',
    body: nothing,
    bodyOptional: true,
    answer: deliveries.delivery,
    handle: call =>
      perform(
        context,
        actingOf(call),
        {
          key: idempotencyOf(call, `/v1/deliveries/${call.params.id}/resend`),
          print: row => ({ body: printDelivery(row) }),
        },
        resendDelivery(context, call.params.id!),
      ),
  },
  {
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    operationId: 'replayWebhook',
    summary: 'Replay the events of a time range to an endpoint',
    tag: 'Webhooks',
    access: 'deliveries.resend',
    body: deliveries.replayRequest,
    answer: deliveries.replay,
    handle: call => {
      const { fromMs, toMs } = timeRange(call.body!.value as deliveries.ReplayRequest);
      const range = { fromMs: Math.max(fromMs!, 0), toMs: Math.max(toMs!, 0) };
      return idempotentlyHeld(context, scopeOf(call), idempotencyOf(call, call.request.url), async () => ({
        body: JSON.stringify({ scheduled: await replayEvents(context, actingOf(call), call.params.id!, range) }),
      }));
    },
  },
];

export const deliveryRoutes = (context: Context): ApiRoute[] => [...eventRoutes(context), ...logRoutes(context)];
