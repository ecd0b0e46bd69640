import { type Permission, rights } from '../../core/access/rights.ts';
import type { Environment } from '../../core/environment.ts';
import { type ErrorCode, errorStatus } from '../../core/errors.ts';
import type { Route } from '../edge/route.ts';
import { errorObject } from '../v1/schemas.ts';

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
  requestBody?: { required: boolean; content: { 'application/json': { schema: unknown } } };
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
};

export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: unknown; schemas: Record<string, unknown> };
};

type JsonObject = { properties?: Record<string, JsonObject & { description?: string }>; required?: string[] };

const specPath = (path: string): string => path.replaceAll(/:([a-z]+)/g, '{$1}');

const operationId = (route: Route): string => {
  const words = route.path
    .split('/')
    .filter(part => part !== '' && part !== 'v1')
    .map(part => part.replace(/^:/, 'by-'));
  return [route.method.toLowerCase(), ...words]
    .join('-')
    .replaceAll(/[^a-zA-Z0-9]+(.)/g, (_, next: string) => next.toUpperCase());
};

const parametersOf = (route: Route): Operation['parameters'] => {
  const inPath = [...route.path.matchAll(/:([a-z]+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }));
  const query = route.query as JsonObject | undefined;
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: query?.required?.includes(name) ?? false,
    schema,
    ...(schema.description === undefined ? {} : { description: schema.description }),
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

/** What a key needs for a route; null if it needs no key. */
const permissionOf = ({ access }: Route): Permission | null =>
  access === 'public' || access === 'probe' || typeof access === 'function' ? null : rights[access].permission;

const codesOf = (route: Route): ErrorCode[] => {
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

const responsesOf = (route: Route): Operation['responses'] => {
  const responses: Operation['responses'] = {
    '200': {
      description: 'Success.',
      ...(route.answer ? { content: { 'application/json': { schema: route.answer } } } : {}),
    },
  };
  const byStatus = Map.groupBy(codesOf(route), code => errorStatus[code]);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: codes.map(code => `\`${code}\``).join(' or '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return responses;
};

const operationOf = (route: Route): Operation => {
  const permission = permissionOf(route);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    ...(permission === null ? {} : { security: [{ apiKey: [permission] }] }),
    parameters: parametersOf(route),
    ...(route.body
      ? { requestBody: { required: !route.bodyOptional, content: { 'application/json': { schema: route.body } } } }
      : {}),
    responses: responsesOf(route),
  };
};

/** Built from the schemas that validate requests, so the two cannot differ. */
export const openApiDocument = (routes: readonly Route[], environment: Environment): OpenApi => {
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = specPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version: 'v1',
      description:
        'Crypto payment requests: request an amount of a token on a network, and get an event when the money is final.',
    },
    servers: [{ url: '/', description: environment }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'sk_test_… or sk_live_…' } },
      schemas: { Error: errorObject },
    },
  };
};
