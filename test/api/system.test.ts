import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { environments } from '../../src/core/environment.ts';
import { putGate } from '../../src/engine/chain/restoreGate.ts';
import type { Call } from '../../src/http/edge/route.ts';
import { systemRoutes } from '../../src/http/v1/systemRoutes.ts';
import { cutDatabase } from '../support/cutDatabase.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const get = (path: string, environment: (typeof environments)[number] = 'sandbox') =>
  scene.client.call('GET', path, { environment });

describe.each(environments)('probes of %s', environment => {
  test('/healthz and /readyz answer without a key', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await get(path, environment);
      expect([answer.status, answer.json.status], path).toEqual([200, 'ok']);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    }
  });
});

test('/readyz names the parts, with the networks of its environment', async () => {
  const ready = await until(
    () => get('/readyz'),
    ({ json }) => json.parts.chains.status === 'ok',
  );
  const { parts } = ready.json;
  expect(ready.json.ready).toBe(true);
  expect(parts).toMatchObject({ database: { status: 'ok' }, stopping: { status: 'ok' }, queue: { status: 'ok' } });
  expect(parts.restore).toEqual({ status: 'ok' });
  expect(parts.chains.networks).toMatchObject({ base: 'operational', polygon: 'operational' });
  expect((await get('/readyz', 'production')).json.parts.chains).toEqual({ status: 'ok', networks: {} });
});

test('a part that is degraded keeps nobody from being served', async () => {
  await putGate(scene.admin, 'extended_keys');
  const ready = await until(
    () => get('/readyz'),
    ({ json }) => json.parts.restore.status === 'degraded',
  );
  expect([ready.status, ready.json.status, ready.json.ready]).toEqual([200, 'ok', true]);
  await putGate(scene.admin, 'open');
});

test('without its database Florin is alive but not ready, and ready again once it is back', async () => {
  const cut = await cutDatabase(scene.config.database!.url);
  try {
    // The result is cached for a second, so the loss shows within one.
    const ready = await until(
      () => get('/readyz'),
      answer => answer.status === 503,
    );
    expect(ready.json).toEqual({
      status: 'unavailable',
      ready: false,
      parts: {
        database: { status: 'unavailable' },
        stopping: { status: 'ok' },
        queue: { status: 'unknown' },
        chains: { status: 'unknown', networks: {} },
        restore: { status: 'unknown' },
      },
      checks: { database: 'unavailable', stopping: false },
    });
    expect((await get('/healthz')).status).toBe(200);
  } finally {
    await cut.restore();
  }
  await until(
    () => get('/readyz'),
    answer => answer.status === 200,
  );
});

test.each(['/openapi.json', '/docs'])('%s is made once for each environment', async path => {
  const made = systemRoutes(
    scene.admin.db,
    () => [],
    () => false,
  );
  const { handle } = made.find(route => route.path === path)!;
  const bodies = environments.map(async environment => (await handle({ environment } as Call)).body);
  const again = environments.map(async environment => (await handle({ environment } as Call)).body);
  const [production, sandbox] = await Promise.all(bodies);
  expect(production).toBeInstanceOf(Buffer);
  expect(production).not.toEqual(sandbox);
  for (const [index, body] of (await Promise.all(again)).entries()) expect(body).toBe([production, sandbox][index]);
});

/** The routes: method, path, whether a key is needed. */
const seed: [string, string, boolean][] = [
  ['post', '/v1/payments', true],
  ['get', '/v1/payments/{id}', true],
  ['get', '/v1/payments', true],
  ['get', '/v1/webhooks', true],
  ['post', '/v1/webhooks', true],
  ['delete', '/v1/webhooks/{id}', true],
  ['post', '/v1/webhooks/{id}/test', true],
  ['get', '/v1/networks', false],
  ['get', '/v1/networks/{slug}', false],
];
const more: [string, string, boolean][] = [
  ['post', '/v1/payments/{id}/cancel', true],
  ['post', '/v1/payments/{id}/resolve', true],
  ['get', '/v1/webhooks/{id}', true],
  ['patch', '/v1/webhooks/{id}', true],
  ['post', '/v1/webhooks/{id}/rotate', true],
  ['get', '/v1/webhooks/{id}/deliveries', true],
  ['post', '/v1/webhooks/{id}/replay', true],
  ['get', '/v1/events', true],
  ['get', '/v1/events/{id}', true],
  ['get', '/v1/events/{id}/deliveries', true],
  ['get', '/v1/deliveries', true],
  ['get', '/v1/deliveries/{id}', true],
  ['post', '/v1/deliveries/{id}/resend', true],
  ['get', '/healthz', false],
  ['get', '/readyz', false],
  ['get', '/openapi.json', false],
  ['get', '/docs', false],
];

type Json = { readonly [name: string]: unknown };
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** All values with this key, at any depth. */
const allOf = (value: unknown, name: string): unknown[] =>
  isObject(value) ? Object.entries(value).flatMap(([key, inner]) => (key === name ? [inner] : allOf(inner, name))) : [];

const resolve = (document: Json, reference: string): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>(
      (at, part) => (isObject(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      document,
    );

type Parameter = { name: string; in: string; required: boolean; schema: Json };
type Operation = {
  operationId: string;
  summary: string;
  security?: { apiKey: string[] }[];
  parameters: Parameter[];
  requestBody?: { content: Json };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
};
type Document = Json & { paths: Record<string, Record<string, Operation>> };

describe('/openapi.json', () => {
  const document = async (): Promise<Document> => {
    const answer = await get('/openapi.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    return answer.json;
  };
  const operationsOf = ({ paths }: Document) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    );

  test('is OpenAPI 3.1 with what that demands', async () => {
    const spec = await document();
    expect(spec.openapi).toMatch(/^3\.1\.\d+$/);
    expect(spec.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(spec.components).toMatchObject({ securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } });
    const ids = operationsOf(spec).map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operationsOf(spec)) {
      expect(operation.summary, path).toMatch(/\S/);
      expect(Object.keys(operation.responses), path).toContain('200');
      expect(Object.values(operation.responses).every(each => each.description !== '')).toBe(true);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = operation.parameters.filter(each => each.in === 'path');
      expect(inPath.map(each => each.name).sort(), path).toEqual(named.sort());
      expect(
        inPath.every(each => each.required),
        path,
      ).toBe(true);
      const keys = operation.parameters.map(each => `${each.in} ${each.name}`);
      expect(new Set(keys).size, path).toBe(keys.length);
    }
  });

  test('every reference leads somewhere', async () => {
    const spec = await document();
    const references = allOf(spec, '$ref') as string[];
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) expect(resolve(spec, reference), reference).toBeDefined();
  });

  test.each([...seed, ...more])('has %s %s', async (method, path, needsKey) => {
    const operation = (await document()).paths[path]?.[method];
    expect(operation).toBeDefined();
    expect(operation!.security !== undefined).toBe(needsKey);
    if (needsKey) expect(permissions).toContain(operation!.security![0]!.apiKey[0]);
    expect('401' in operation!.responses).toBe(needsKey);
  });

  test('every operation it names is served, and is not served with another access than it says', async () => {
    for (const { method, path, operation } of operationsOf(await document())) {
      const answer = await scene.client.call(method.toUpperCase(), path.replace(/\{\w+\}/g, 'base'));
      expect(answer.status, `${method} ${path}`).toBe(operation.security ? 401 : 200);
    }
  });

  test('payments: the seed’s fields, defaults and bounds are in it', async () => {
    const spec = await document();
    const { paths } = spec;
    type Named = { $ref: string };
    const post = paths['/v1/payments']!.post!;
    const request = resolve(post as Json, 'requestBody/content/application~1json/schema') as Named;
    const body = resolve(spec, request.$ref) as { required: string[]; properties: Record<string, Json> };
    expect([...body.required].sort()).toEqual(['amount', 'currency', 'network']);
    const optional = ['description', 'expiresIn', 'metadata', 'callbackUrl', 'redirectUrl'];
    for (const name of optional) expect(body.properties, name).toHaveProperty(name);
    expect(body.properties.expiresIn).toMatchObject({ default: 3600, minimum: 1, maximum: 2_592_000 });
    const response = post.responses['200']!.content!['application/json']!.schema as Named;
    const answer = resolve(spec, response.$ref) as { properties: Json; required: string[] };
    const fields = [
      'id',
      'status',
      'amount',
      'currency',
      'network',
      'address',
      'checkoutUrl',
      'expiresAt',
      'createdAt',
      'metadata',
    ];
    expect(answer.required).toEqual(expect.arrayContaining(fields));
    const query = Object.fromEntries(paths['/v1/payments']!.get!.parameters.map(each => [each.name, each]));
    expect(Object.keys(query)).toEqual(expect.arrayContaining(['limit', 'offset', 'status', 'from', 'to']));
    expect(query.limit!.schema).toMatchObject({ default: 20, minimum: 1, maximum: 100 });
    expect(Object.values(query).every(each => !each.required)).toBe(true);
  });

  test('every POST knows Idempotency-Key', async () => {
    for (const { method, path, operation } of operationsOf(await document())) {
      const knows = operation.parameters.some(each => each.in === 'header' && each.name === 'Idempotency-Key');
      expect(knows, `${method} ${path}`).toBe(method === 'post');
    }
  });
});

test.each(environments)('/docs of %s is a page that may load nothing from elsewhere', async environment => {
  const answer = await get('/docs', environment);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = String(answer.headers['content-security-policy']);
  expect(policy).toMatch(/default-src 'none'/);
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|\*|https?:/);
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(answer.text).toMatch(/^<!doctype html>/i);
  expect(answer.text).toContain('/v1/payments');
  expect(answer.text).toContain(environment);
  expect(answer.text).not.toMatch(/<script|<link[^>]+href="https?:|<img[^>]+src="https?:/i);
});
