import { nothing } from '../../core/api/fields.ts';
import { type PageQuery, pageQuery } from '../../core/api/listPage.ts';
import * as schemas from '../../core/api/webhookEndpoint.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import {
  changeEndpoint,
  createEndpoint,
  type EndpointWithSecret,
  endpointObject,
  findEndpoint,
  removeEndpoint,
  rotateSecret,
  testEndpoint,
} from '../../engine/webhooks/webhookEndpoints.ts';
import { type EndpointRow, listEndpoints } from '../../storage/webhooks/endpoints.ts';
import { idempotencyOf } from '../edge/idempotencyKey.ts';
import { type ApiRoute, actingOf, scopeOf } from '../edge/route.ts';
import { defaultPageLimit, renderPage } from './paymentRoutes.ts';

const printEndpoint = (row: EndpointRow): string => JSON.stringify(endpointObject(row));

/** The secret is in the responses to create and rotate only. */
const printWithSecret = ({ row, secret }: EndpointWithSecret) => {
  const { createdAt, ...rest } = endpointObject(row);
  return { body: JSON.stringify({ ...rest, secret, createdAt }), secret: true };
};

const managingRoutes = (context: Context): ApiRoute[] => [
  {
    method: 'GET',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'List webhook endpoints, newest first',
    tag: 'Webhooks',
    access: 'webhooks.read',
    query: pageQuery,
    answer: schemas.endpointList,
    handle: async call => {
      const { limit = defaultPageLimit, offset = 0 } = call.query as PageQuery;
      const { rows, total } = await listEndpoints(context.db, scopeOf(call), { limit, offset });
      return {
        body: renderPage(rows.map(printEndpoint), total, limit, offset),
      };
    },
  },
  {
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Create a webhook endpoint; the response contains its secret',
    tag: 'Webhooks',
    access: 'webhooks.manage',
    body: schemas.endpointRequest,
    answer: schemas.endpoint,
    handle: call =>
      perform(
        context,
        actingOf(call),
        { key: idempotencyOf(call, '/v1/webhooks'), print: printWithSecret },
        createEndpoint(context, call.body!.value as schemas.EndpointRequest),
      ),
  },
  {
    method: 'GET',
    path: '/v1/webhooks/:id',
    operationId: 'getWebhook',
    summary: 'Retrieve a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks.read',
    answer: schemas.endpoint,
    handle: async call => ({ body: printEndpoint(await findEndpoint(context, scopeOf(call), call.params.id!)) }),
  },
  {
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    operationId: 'updateWebhook',
    summary: 'Change a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks.manage',
    body: schemas.endpointPatch,
    answer: schemas.endpoint,
    handle: async call => {
      const change = call.body!.value as schemas.EndpointPatch;
      const work = changeEndpoint(context, call.params.id!, change);
      return { body: printEndpoint(await perform(context, actingOf(call), null, work)) };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks.manage',
    answer: schemas.deletedEndpoint,
    async handle(call) {
      const { id } = await perform(context, actingOf(call), null, removeEndpoint(context, call.params.id!));
      return { body: JSON.stringify({ id, deleted: true }) };
    },
  },
];

const actingRoutes = (context: Context): ApiRoute[] => [
  {
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    operationId: 'testWebhook',
    summary: 'Send a signed test event now',
    tag: 'Webhooks',
    access: 'webhooks.manage',
    body: schemas.testRequest,
    bodyOptional: true,
    answer: schemas.testResult,
    handle: call => {
      const { type = 'webhook.test' } = (call.body?.value ?? {}) as schemas.TestRequest;
      const test = { type, trace: call.trace };
      return testEndpoint(context, scopeOf(call), call.params.id!, test, idempotencyOf(call, call.request.url));
    },
  },
  {
    method: 'POST',
    path: '/v1/webhooks/:id/rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of an endpoint; for 24 hours, the old secret also signs',
    tag: 'Webhooks',
    access: 'webhooks.manage',
    body: nothing,
    bodyOptional: true,
    answer: schemas.endpoint,
    handle: call =>
      perform(
        context,
        actingOf(call),
        { key: idempotencyOf(call, call.request.url), print: printWithSecret },
        rotateSecret(context, call.params.id!),
      ),
  },
];

export const webhookRoutes = (context: Context): ApiRoute[] => [...managingRoutes(context), ...actingRoutes(context)];
