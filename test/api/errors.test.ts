import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorStatus } from '../../src/core/errors.ts';
import { generateApiKey } from '../../src/vault/apiKeys.ts';
import type { Sending } from '../support/client.ts';
import { cutDatabase } from '../support/cutDatabase.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { type Answer, send, sendRaw } from '../support/send.ts';
import { until } from '../support/until.ts';
import { expectError, expectInvalid, ordinary } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';
import { startWebhookReceiver } from './webhookReceiver.ts';

const table = {
  invalid_request: 400,
  unauthorized: 401,
  permission_denied: 403,
  https_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  wallet_required: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
  network_unavailable: 503,
  service_unavailable: 503,
} as const;
type Code = keyof typeof table;

let scene: TestFlorin;
let account: TestAccount;
let node: Awaited<ReturnType<typeof startRpcNode>>;
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;
let ca: string;
beforeAll(async () => {
  [node, receiver] = [await startRpcNode(1), await startWebhookReceiver()];
  scene = await startTestFlorin({
    configFile: { networks: { production: { ethereum: { rpcUrls: [node.url] } } } },
  });
  account = await scene.account();
  ca = await readFile(scene.florin.caPath!, 'utf8');
});

const call = (method: string, path: string, sending: Sending = {}) =>
  scene.client.call(method, path, { key: account.keys.sandbox, ...sending });
const pay = (sending: Sending = {}) => call('POST', '/v1/payments', { body: ordinary, ...sending });
const runSql = (text: string) => scene.admin.db.script(text);

describe('the closed table', () => {
  test('is what the code has', () => expect(errorStatus).toEqual(table));

  test('is what docs/errors.md says, row by row and no more', async () => {
    const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [code, Number(status)]);
    expect(Object.fromEntries(rows)).toEqual(table);
    expect(rows).toHaveLength(Object.keys(table).length);
  });

  test('is what openapi.json says, and each route lists codes under their own status only', async () => {
    const { paths, components } = (await call('GET', '/openapi.json')).json;
    const codes: string[] = components.schemas.Error.properties.error.properties.code.enum;
    expect([...codes].sort()).toEqual(Object.keys(table).sort());
    const operations = Object.values(paths).flatMap(methods => Object.values(methods as object));
    for (const { operationId, responses } of operations) {
      for (const [status, { description }] of Object.entries<{ description: string }>(responses)) {
        if (status === '200') continue;
        const named = [...description.matchAll(/`(\w+)`/g)].map(([, code]) => table[code as Code]);
        expect(named.length, operationId).toBeGreaterThan(0);
        expect(new Set(named), `${operationId} ${status}`).toEqual(new Set([Number(status)]));
      }
    }
  });
});

/** One way to cause each error code. Those that break something repair it afterwards. */
const ways: Record<Code, () => Promise<Answer>> = {
  invalid_request: () => pay({ body: { ...ordinary, amount: '0' } }),
  unauthorized: () => call('GET', '/v1/payments', { key: generateApiKey('sandbox').key }),
  permission_denied: async () => {
    const { key } = await scene.key(account.id, 'sandbox', ['payments:read']);
    return pay({ key });
  },
  https_required: () => send(scene.florin.urls.sandbox.replace('https', 'http'), 'GET', '/v1/networks'),
  not_found: () => call('GET', '/v1/payments/pay_none'),
  method_not_allowed: () => call('PATCH', '/v1/payments'),
  conflict: async () => {
    await pay({ body: { ...ordinary, externalId: 'order-1' } });
    return pay({ body: { ...ordinary, externalId: 'order-1' } });
  },
  wallet_required: () =>
    until(
      () =>
        pay({ key: account.keys.production, environment: 'production', body: { ...ordinary, network: 'ethereum' } }),
      answer => answer.status !== 503,
    ),
  idempotency_in_progress: async () => {
    const { id } = (await call('POST', '/v1/webhooks', { body: { url: receiver.url } })).json;
    const arrived = Promise.withResolvers<() => void>();
    receiver.answer = response => arrived.resolve(() => response.end());
    const sending = { headers: { 'idempotency-key': 'held' } };
    const running = call('POST', `/v1/webhooks/${id}/test`, sending);
    const release = await arrived.promise;
    const meanwhile = await call('POST', `/v1/webhooks/${id}/test`, sending);
    release();
    const first = await running;
    expect(first.json.delivered).toBe(true);
    expect((await call('POST', `/v1/webhooks/${id}/test`, sending)).text).toBe(first.text);
    expect(receiver.received).toHaveLength(1);
    return meanwhile;
  },
  payload_too_large: () => pay({ body: { ...ordinary, metadata: { a: 'x'.repeat(70_000) } } }),
  unsupported_media_type: () => pay({ headers: { 'content-type': 'text/plain' } }),
  idempotency_mismatch: async () => {
    const headers = { 'idempotency-key': 'mismatch' };
    await pay({ headers });
    return pay({ headers, body: { ...ordinary, amount: '26' } });
  },
  rate_limit_exceeded: async () => {
    const { keys } = await scene.account({ rateLimit: 1, burst: 0 });
    await call('GET', '/v1/payments', { key: keys.sandbox });
    return call('GET', '/v1/payments', { key: keys.sandbox });
  },
  internal_error: async () => {
    await runSql('alter table webhook_endpoints rename to mislaid');
    try {
      return await call('GET', '/v1/webhooks');
    } finally {
      await runSql('alter table mislaid rename to webhook_endpoints');
    }
  },
  network_unavailable: () => pay({ key: account.keys.production, environment: 'production' }),
  service_unavailable: async () => {
    const cut = await cutDatabase(scene.config.database!.url);
    try {
      return await pay();
    } finally {
      await cut.restore();
    }
  },
};

test.each(Object.keys(table) as Code[])('%s is reached, in the one form that errors have', async code => {
  const answer = await ways[code]();
  const { param } = answer.json?.error ?? {};
  expectError(answer, table[code], code, ...(param === undefined ? [] : [param]));
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(param).toBe(code === 'invalid_request' ? 'amount' : code === 'conflict' ? 'externalId' : undefined);
  // The message reveals nothing internal.
  expect(answer.text).not.toMatch(/select|relation|webhook_endpoints|postgres|\.ts|at \w+ \(/i);
  await until(
    () => pay(),
    ({ status }) => status === 200,
  );
});

test('every response, good or bad, has a request id of its own', async () => {
  const answers = [
    await call('GET', '/healthz'),
    await call('GET', '/docs'),
    await call('GET', '/v1/networks'),
    await pay(),
    await call('GET', '/nothing'),
    await call('OPTIONS', '/v1/payments'),
    await call('GET', '/v1/payments?limit=x'),
  ];
  const ids = answers.map(answer => answer.headers['x-request-id']);
  expect(ids.every(id => /^req_[0-9A-Za-z]+$/.test(String(id)))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect((await call('GET', '/healthz', { headers: { 'x-request-id': 'mine' } })).headers['x-request-id']).not.toBe(
    'mine',
  );
});

test.each([
  '/',
  '/v1',
  '/v1/',
  '/v1/payment',
  '/v2/payments',
  '/v1/payments/',
  '/v1/payments/a/b',
  '/V1/payments',
  '/v1//payments',
])('an unknown path is 404: %s', async path => expectError(await call('GET', path), 404, 'not_found'));

test('the root says where the reference is', async () => {
  expect((await call('GET', '/')).json.error.message).toContain('/docs');
});

test.each([
  ['PUT', '/v1/payments', 'GET, POST'],
  ['DELETE', `/v1/payments/pay_${'0'.repeat(26)}`, 'GET'],
  ['GET', `/v1/payments/pay_${'0'.repeat(26)}/cancel`, 'POST'],
  ['PUT', '/v1/webhooks', 'GET, POST'],
  ['POST', '/v1/webhooks/we_none', 'DELETE, GET, PATCH'],
  ['GET', '/v1/webhooks/we_none/test', 'POST'],
  ['POST', '/v1/networks', 'GET'],
  ['DELETE', '/healthz', 'GET'],
])('%s %s is 405 with Allow: %s', async (method, path, allow) => {
  const answer = await call(method, path);
  expectError(answer, 405, 'method_not_allowed');
  expect(answer.headers.allow!.split(', ').sort().join(', ')).toBe(allow);
});

describe('bodies', () => {
  test.each([false, true])('413 can be read by a client that is still sending 5 MiB (chunked: %s)', async chunked => {
    const body = JSON.stringify({ ...ordinary, metadata: { a: 'x'.repeat(5 * 1024 * 1024) } });
    const sending = { ca, key: account.keys.sandbox, body, chunked };
    expectError(await send(scene.florin.urls.sandbox, 'POST', '/v1/payments', sending), 413, 'payload_too_large');
  });

  test.each([
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'br' },
  ])('415 for %j', async headers => expectError(await pay({ headers }), 415, 'unsupported_media_type'));

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('%s is taken', async type => expect((await pay({ headers: { 'content-type': type } })).status).toBe(200));

  test.each(['{', '{"amount":"1"', 'nonsense', '[', '{"amount":"1",}', '\ufeff{}', '{"a":1}{"a":1}', "{'a':1}"])(
    'what is not JSON is 400: %j',
    async body => expectInvalid(await pay({ body })),
  );

  test.each([undefined, 'null', '[]', '"text"', '7'])('a body that is no object is 400: %s', async body => {
    const answer = await call('POST', '/v1/payments', { body });
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_request']);
  });

  test('a body that ends too early is 400 and executes nothing', async () => {
    const total = async () => (await call('GET', '/v1/payments')).json.pagination.total;
    const before = await total();
    const head = `POST /v1/payments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.keys.sandbox}\r\n`;
    const body = JSON.stringify(ordinary);
    const bytes = `${head}Content-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`;
    const answer = await sendRaw(scene.florin.urls.sandbox, ca, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
    expect(await total()).toBe(before);
  });
});

test('while the database is gone everything that needs it is 503 with Retry-After, and then it is back', async () => {
  const cut = await cutDatabase(scene.config.database!.url);
  try {
    for (const answer of [await pay(), await call('GET', '/v1/payments'), await call('GET', '/v1/webhooks')]) {
      expectError(answer, 503, 'service_unavailable');
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  } finally {
    await cut.restore();
  }
  const paid = await until(
    () => pay(),
    answer => answer.status === 200,
  );
  expect((await call('GET', `/v1/payments/${paid.json.id}`)).status).toBe(200);
});
