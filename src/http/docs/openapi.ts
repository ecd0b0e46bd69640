import { type Permission, rights } from '../../core/access/rights.ts';
import { type ErrorObject, errorObject } from '../../core/api/error.ts';
import type { Environment } from '../../core/environment.ts';
import { type ErrorCode, errorStatus } from '../../core/errors.ts';
import type { ApiRoute } from '../edge/route.ts';
import { exampleAnswerOf, exampleBodyOf } from './docsExamples.ts';
import type { DocsPlace } from './docsPlace.ts';
import { openApiWebhooks, type WebhookOperation, webhookParameters } from './openapiWebhooks.ts';
import { componentSchemas, withReferences } from './references.ts';

type Content = { schema: unknown; example: unknown };

export type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  security?: { apiKey: string[] }[];
  parameters: {
    name: string;
    in: 'path' | 'query' | 'header';
    required: boolean;
    schema: unknown;
    description?: string;
  }[];
  requestBody?: { required: boolean; content: { 'application/json': Content } };
  responses: Record<string, { $ref?: string; description: string; content?: Record<string, Content> }>;
};

export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: WebhookOperation }>;
  components: Record<'securitySchemes' | 'schemas' | 'responses' | 'parameters', Record<string, unknown>>;
};

/** The examples are the same on every installation. */
const urls = { production: 'https://pay.florin.example', sandbox: 'https://sandbox.florin.example' } as const;

type JsonObject = { properties?: Record<string, JsonObject & { description?: string }>; required?: string[] };

const specPath = (path: string): string => path.replaceAll(/:([a-z]+)/g, '{$1}');

const parametersOf = (route: ApiRoute): Operation['parameters'] => {
  const inPath = [...route.path.matchAll(/:([a-z]+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }));
  const query = route.query as JsonObject | undefined;
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query' as const,
    required: query?.required?.includes(name) ?? false,
    schema: withReferences(schema),
    ...(description === undefined ? {} : { description }),
  }));
  const idempotency = {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'A repeated request with the same key and body within 24 hours gets the first response again.',
  };
  return [...inPath, ...inQuery, ...(route.method === 'POST' ? [idempotency] : [])];
};

const content = (schema: unknown, example: unknown): Content => ({ schema: withReferences(schema), example });

const errorContent = content(errorObject, {
  error: {
    code: 'invalid_request',
    message: 'amount is required.',
    param: 'amount',
    requestId: 'req_4tJwq0ZkVbNs00002f',
  },
} satisfies ErrorObject);

/** What a key needs for a route; null if it needs no key. */
const permissionOf = ({ access }: ApiRoute): Permission | null =>
  access === 'public' || access === 'probe' || typeof access === 'function' ? null : rights[access].permission;

const codesOf = (route: ApiRoute): ErrorCode[] => {
  const codes: ErrorCode[] = [
    'invalid_request',
    'https_required',
    'rate_limit_exceeded',
    'internal_error',
    'service_unavailable',
  ];
  if (permissionOf(route) !== null) codes.push('unauthorized', 'permission_denied');
  if (route.path.includes(':')) codes.push('not_found');
  if (route.method === 'POST') codes.push('conflict', 'idempotency_in_progress', 'idempotency_mismatch');
  if (route.method === 'POST' || route.method === 'PATCH') codes.push('payload_too_large', 'unsupported_media_type');
  if (route.method === 'POST' && route.path === '/v1/payments') codes.push('wallet_required', 'network_unavailable');
  return codes;
};

const responsesOf = (route: ApiRoute, place: DocsPlace): Operation['responses'] => {
  const { operationId, answer } = route;
  const responses: Operation['responses'] = {
    '200': {
      description: 'Success.',
      ...(answer
        ? { content: { 'application/json': content(answer, exampleAnswerOf(operationId, answer, place)) } }
        : {}),
    },
  };
  const byStatus = Map.groupBy(codesOf(route), code => errorStatus[code]);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    const description = codes.map(code => `\`${code}\``).join(' or ');
    responses[status] = { $ref: '#/components/responses/Error', description };
  }
  return responses;
};

const requestOf = ({ body, bodyOptional }: ApiRoute, place: DocsPlace): Operation['requestBody'] =>
  body && {
    required: !bodyOptional,
    content: { 'application/json': content(body, exampleBodyOf(body, place)) },
  };

const operationOf = (route: ApiRoute, place: DocsPlace): Operation => {
  const permission = permissionOf(route);
  const requestBody = requestOf(route, place);
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(permission === null ? {} : { security: [{ apiKey: [permission] }] }),
    parameters: parametersOf(route),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, place),
  };
};

/** Built from the schemas that validate requests, so the two cannot differ. */
export const openApiDocument = (routes: readonly ApiRoute[], environment: Environment): OpenApi => {
  const place: DocsPlace = { environment, urls };
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = specPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, place) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version: 'v1',
      description:
        'Crypto payment requests: request an amount of a token on a network, and get an event when the money is final.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: environment }],
    paths,
    webhooks: openApiWebhooks(place),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'sk_test_… or sk_live_…' } },
      schemas: componentSchemas(),
      responses: { Error: { description: 'An error, with its code.', content: { 'application/json': errorContent } } },
      parameters: webhookParameters(),
    },
  };
};
