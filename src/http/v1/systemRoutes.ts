import { health, readiness } from '../../core/api/health.ts';
import { type Environment, environments } from '../../core/environment.ts';
import type { Database } from '../../storage/database.ts';
import { renderDocs } from '../docs/docs.ts';
import { openApiDocument } from '../docs/openapi.ts';
import { createReadiness } from '../edge/readiness.ts';
import type { ApiRoute, Reply } from '../edge/route.ts';
import { type ReadinessParts, unknownParts } from './readinessParts.ts';

const ping = { name: 'ready-ping', text: 'select 1 as one' };

/** Default URLs without configuration. */
const usualUrls: Readonly<Record<Environment, string>> = {
  production: 'https://localhost:8443',
  sandbox: 'https://localhost:8444',
};

/** Builds the reply on first use, once per environment. Its routes do not change. */
const oncePerEnvironment = (
  make: (environment: Environment) => Reply,
  isSettled: () => boolean = () => true,
): ((environment: Environment) => Reply) => {
  const made = new Map<Environment, Reply>();
  return environment => {
    let reply = made.get(environment);
    if (!reply) {
      const { body, ...rest } = make(environment);
      reply = { ...rest, body: Buffer.from(body) };
      if (isSettled()) made.set(environment, reply);
    }
    return reply;
  };
};

/** Routes outside /v1. */
export const systemRoutes = (
  db: Database,
  apiRoutes: () => readonly ApiRoute[],
  isStopping: () => boolean,
  publicUrl: (environment: Environment) => string = environment => usualUrls[environment],
  partsOf: (environment: Environment) => Promise<ReadinessParts> = async () => unknownParts,
): ApiRoute[] => {
  const isDatabaseReady = createReadiness(
    () => db.query(ping),
    () => performance.now(),
  );
  const document = oncePerEnvironment(environment => ({
    body: JSON.stringify(openApiDocument(apiRoutes(), environment)),
  }));
  const page = oncePerEnvironment(
    environment => {
      const urls = { production: publicUrl('production'), sandbox: publicUrl('sandbox') };
      return renderDocs(openApiDocument(apiRoutes(), environment), { environment, urls });
    },
    // One listener may answer before the other is bound. A page without both URLs is not cached.
    () => environments.every(environment => publicUrl(environment) !== ''),
  );
  return [
    {
      method: 'GET',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Check that the process runs',
      tag: 'System',
      access: 'probe',
      answer: health,
      handle: () => ({ body: '{"status":"ok"}' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Check that the service is ready: its database responds and it is not stopping',
      tag: 'System',
      access: 'probe',
      answer: readiness,
      handle: async ({ environment }) => {
        const [answers, parts] = await Promise.all([isDatabaseReady(), partsOf(environment)]);
        const statusIf = (isOk: boolean) => (isOk ? 'ok' : 'unavailable');
        const ready = answers && !isStopping();
        const body = {
          status: statusIf(ready),
          ready,
          parts: {
            database: { status: statusIf(answers) },
            stopping: { status: statusIf(!isStopping()) },
            ...(answers ? parts : unknownParts),
          },
          checks: { database: statusIf(answers), stopping: isStopping() },
        };
        return { status: ready ? 200 : 503, body: JSON.stringify(body) };
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'Retrieve the OpenAPI 3.1 document',
      tag: 'System',
      access: 'public',
      handle: call => document(call.environment),
    },
    {
      method: 'GET',
      path: '/docs',
      operationId: 'getReference',
      summary: 'Retrieve the API reference as a page',
      tag: 'System',
      access: 'public',
      handle: call => page(call.environment),
    },
  ];
};
