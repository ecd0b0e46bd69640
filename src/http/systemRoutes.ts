import type { Database } from '../storage/database.ts';
import { renderDocs } from './docs.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import * as schemas from './schemas.ts';

const ping = { name: 'ready-ping', text: 'select 1 as one' };

/** What stands at the root, outside /v1. */
export const systemRoutes = (db: Database, apiRoutes: () => readonly Route[], isStopping: () => boolean): Route[] => [
  {
    method: 'GET',
    path: '/healthz',
    summary: 'The process is alive',
    tag: 'System',
    access: 'probe',
    answer: schemas.health,
    handle: () => ({ body: '{"status":"ok"}' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    summary: 'The service can serve: its database answers and it is not stopping',
    tag: 'System',
    access: 'probe',
    answer: schemas.health,
    handle: async () => {
      const database = await db.query(ping).then(
        () => 'ok',
        () => 'unavailable',
      );
      const isReady = database === 'ok' && !isStopping();
      return {
        status: isReady ? 200 : 503,
        body: JSON.stringify({ status: isReady ? 'ok' : 'unavailable', checks: { database, stopping: isStopping() } }),
      };
    },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    tag: 'System',
    access: 'public',
    handle: call => ({ body: JSON.stringify(openApiDocument(apiRoutes(), call.environment)) }),
  },
  {
    method: 'GET',
    path: '/docs',
    summary: 'The reference as a page',
    tag: 'System',
    access: 'public',
    handle: call => renderDocs(openApiDocument(apiRoutes(), call.environment)),
  },
];
