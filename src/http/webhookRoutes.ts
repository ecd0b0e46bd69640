import type { Context } from '../engine/context.ts';
import {
  changeEndpoint,
  createEndpoint,
  findEndpoint,
  removeEndpoint,
  renderEndpoint,
  rotateEndpoint,
  testEndpoint,
} from '../engine/webhookEndpoints.ts';
import { listEndpoints } from '../storage/endpoints.ts';
import { idempotencyOf } from './idempotencyKey.ts';
import { defaultPageLimit, renderPage } from './paymentRoutes.ts';
import { type Route, scopeOf } from './route.ts';
import * as schemas from './schemas.ts';

const managingRoutes = (context: Context): Route[] => [
  {
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List webhook endpoints, newest first',
    tag: 'Webhooks',
    access: 'webhooks:read',
    query: schemas.pageQuery,
    answer: schemas.listOf(schemas.endpoint),
    handle: async call => {
      const { limit = defaultPageLimit, offset = 0 } = call.query as schemas.PageQuery;
      const { rows, total } = await listEndpoints(context.db, scopeOf(call), { limit, offset });
      return {
        body: renderPage(
          rows.map(row => renderEndpoint(row)),
          total,
          limit,
          offset,
        ),
      };
    },
  },
  {
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook endpoint; the response contains its secret',
    tag: 'Webhooks',
    access: 'webhooks:write',
    body: schemas.endpointRequest,
    answer: schemas.endpoint,
    handle: call =>
      createEndpoint(
        context,
        scopeOf(call),
        call.body!.value as schemas.EndpointRequestBody,
        idempotencyOf(call, '/v1/webhooks'),
      ),
  },
  {
    method: 'GET',
    path: '/v1/webhooks/:id',
    summary: 'Retrieve a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks:read',
    answer: schemas.endpoint,
    handle: async call => ({ body: renderEndpoint(await findEndpoint(context, scopeOf(call), call.params.id!)) }),
  },
  {
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    summary: 'Change a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks:write',
    body: schemas.endpointPatch,
    answer: schemas.endpoint,
    handle: async call => {
      const change = call.body!.value as schemas.EndpointPatchBody;
      return { body: await changeEndpoint(context, scopeOf(call), call.params.id!, change) };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    summary: 'Delete a webhook endpoint',
    tag: 'Webhooks',
    access: 'webhooks:write',
    answer: schemas.deleted,
    handle: async call => ({ body: await removeEndpoint(context, scopeOf(call), call.params.id!) }),
  },
];

const actingRoutes = (context: Context): Route[] => [
  {
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    summary: 'Send a signed test event now',
    tag: 'Webhooks',
    access: 'webhooks:write',
    body: schemas.testRequest,
    bodyOptional: true,
    answer: schemas.testResult,
    handle: call => {
      const { type = 'webhook.test' } = (call.body?.value ?? {}) as schemas.TestRequestBody;
      return testEndpoint(context, scopeOf(call), call.params.id!, type, idempotencyOf(call, call.request.url));
    },
  },
  {
    method: 'POST',
    path: '/v1/webhooks/:id/rotate',
    summary: 'Rotate the secret of an endpoint; for 24 hours, the old secret also signs',
    tag: 'Webhooks',
    access: 'webhooks:write',
    body: schemas.nothing,
    bodyOptional: true,
    answer: schemas.endpoint,
    handle: call => rotateEndpoint(context, scopeOf(call), call.params.id!, idempotencyOf(call, call.request.url)),
  },
];

export const webhookRoutes = (context: Context): Route[] => [...managingRoutes(context), ...actingRoutes(context)];
