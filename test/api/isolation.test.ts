import { beforeAll, expect, test } from 'vitest';
import { type Permission, permissions } from '../../src/core/access/rights.ts';
import type { Environment } from '../../src/core/environment.ts';
import type { OpenApi } from '../../src/http/docs/openapi.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { endKey } from '../support/operator.ts';
import type { Answer } from '../support/send.ts';
import { ordinary } from './paymentCalls.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhookReceiver.ts';

type Kind = 'payment' | 'endpoint' | 'event' | 'delivery' | 'network';
type Operation = {
  method: string;
  path: string;
  /** A required query, such as ?status=parked. */
  query: string;
  kind: Kind | null;
  scope: Permission | null;
  takesBody: boolean;
};
/** The key and the environment of a request. */
type Asker = { key: string | null; environment: Environment };

let scene: TestFlorin;
let receiver: WebhookReceiver;
/** Ids sort by time: a comparison that lets one side through shows only to accounts of that side. */
let older: TestAccount;
let owner: TestAccount;
let younger: TestAccount;
/** Older than the owner, and without anything of its own. */
let empty: TestAccount;
let operations: Operation[];
const lacking = {} as Record<Permission, string>;
let revoked: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  // Each of the many failing requests has its own client address, so that the limit per address does not apply.
  scene = await startTestFlorin({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } });
  [empty, older] = [await scene.account(), await scene.account()];
  [owner, younger] = [await scene.account(), await scene.account()];
  for (const scope of permissions) {
    lacking[scope] = (
      await scene.key(
        owner.id,
        'sandbox',
        permissions.filter(each => each !== scope),
      )
    ).key;
  }
  const ended = await scene.key(owner.id, 'sandbox');
  await endKey(scene.admin, ended.id);
  revoked = ended.key;
  operations = operationsOf((await scene.client.call('GET', '/openapi.json')).json);
});

/** The kind of object in a path. A new resource needs a row, or the matrix would not cover it. */
const kinds: Record<string, Kind> = {
  '/v1/payments': 'payment',
  '/v1/sandbox/payments': 'payment',
  '/v1/webhooks': 'endpoint',
  '/v1/events': 'event',
  '/v1/deliveries': 'delivery',
  '/v1/networks': 'network',
};

const kindOf = (path: string): Kind | null => {
  const [prefix, rest] = path.split(/\/\{\w+\}/);
  if (rest === undefined) return null;
  const kind = kinds[prefix!];
  if (!kind) throw new Error(`${path} has ids of a kind that this matrix does not know; teach it how to make one`);
  return kind;
};

const queryOf = (parameters: OpenApi['paths'][string][string]['parameters']): string => {
  const required = parameters.filter(each => each.in === 'query' && each.required);
  const pairs = required.map(({ name, schema }) => `${name}=${(schema as { enum: string[] }).enum[0]}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};

const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: queryOf(parameters),
      kind: kindOf(path),
      scope: (security?.[0]?.apiKey[0] as Permission | undefined) ?? null,
      takesBody: requestBody?.required === true,
    })),
  );

const bodies: Record<string, () => object> = {
  'POST /v1/payments': () => ordinary,
  'POST /v1/webhooks': () => ({ url: receiver.url }),
  'PATCH /v1/webhooks/{id}': () => ({ description: 'changed' }),
  'POST /v1/webhooks/{id}/replay': () => ({ from: '2026-01-01', to: '2126-01-01' }),
  'POST /v1/payments/{id}/resolve': () => ({ action: 'accept' }),
  'POST /v1/sandbox/payments/{id}/simulate': () => ({ outcome: 'paid' }),
};

let address = 0;
const ask = (operation: Operation, { key, environment }: Asker, id: string): Promise<Answer> => {
  const name = `${operation.method} ${operation.path}`;
  if (operation.takesBody && !bodies[name]) throw new Error(`${name} takes a body that this matrix does not know`);
  address += 1;
  return scene.client.call(operation.method, operation.path.replace(/\{\w+\}/, id) + operation.query, {
    key,
    environment,
    body: operation.takesBody ? bodies[name]!() : undefined,
    headers: { 'x-forwarded-for': `198.51.${address >> 8}.${address & 255}` },
  });
};

const asOwner = async (method: string, path: string, body?: object): Promise<Answer['json']> => {
  const answer = await scene.client.call(method, path, { key: owner.keys.sandbox, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

/** A new sandbox object of the owner, because some operations delete it. */
const freshId = async (kind: Kind | null): Promise<string> => {
  if (kind === null || kind === 'network') return 'base';
  if (kind === 'endpoint') {
    // An account may have fifty endpoints, and the matrix needs more.
    for (const { id } of (await asOwner('GET', '/v1/webhooks')).data) await asOwner('DELETE', `/v1/webhooks/${id}`);
    return (await asOwner('POST', '/v1/webhooks', { url: receiver.url })).id;
  }
  const payment = await asOwner('POST', '/v1/payments', { ...ordinary, callbackUrl: receiver.url });
  if (kind === 'payment') return payment.id;
  const [event] = (await asOwner('GET', `/v1/events?paymentId=${payment.id}`)).data;
  if (kind === 'event') return event.id;
  return (await asOwner('GET', `/v1/events/${event.id}/deliveries`)).data[0].id;
};
const unknownId: Record<Kind, string> = {
  payment: `pay_${'0'.repeat(26)}`,
  endpoint: `we_${'0'.repeat(26)}`,
  event: `evt_${'0'.repeat(26)}`,
  delivery: `dlv_${'0'.repeat(26)}`,
  network: 'base',
};

const withoutRequestId = (text: string): string => text.replace(/"requestId":"[^"]*"/, '"requestId":""');

/** The rows of the matrix. The expected status; null where any status but a refusal is right. */
const askers: Record<
  string,
  { as: (operation: Operation) => Asker; expected: (operation: Operation) => number | null }
> = {
  owner: { as: () => ({ key: owner.keys.sandbox, environment: 'sandbox' }), expected: () => null },
  'older tenant': {
    as: () => ({ key: older.keys.sandbox, environment: 'sandbox' }),
    expected: ({ kind, scope }) => (kind !== null && scope !== null ? 404 : null),
  },
  'younger tenant': {
    as: () => ({ key: younger.keys.sandbox, environment: 'sandbox' }),
    expected: ({ kind, scope }) => (kind !== null && scope !== null ? 404 : null),
  },
  'other environment': {
    as: () => ({ key: owner.keys.production, environment: 'production' }),
    expected: ({ kind, scope }) => (kind !== null && scope !== null ? 404 : null),
  },
  'wrong address': {
    as: () => ({ key: owner.keys.sandbox, environment: 'production' }),
    expected: ({ scope }) => (scope === null ? 200 : 401),
  },
  'missing scope': {
    as: ({ scope }) => ({ key: scope === null ? lacking['payments:read'] : lacking[scope], environment: 'sandbox' }),
    expected: ({ scope }) => (scope === null ? 200 : 403),
  },
  revoked: {
    as: () => ({ key: revoked, environment: 'sandbox' }),
    expected: ({ scope }) => (scope === null ? 200 : 401),
  },
  'no key': {
    as: () => ({ key: null, environment: 'sandbox' }),
    expected: ({ scope }) => (scope === null ? 200 : 401),
  },
};

const stateOf = async (operation: Operation, id: string): Promise<string | null> => {
  if (operation.kind === null || operation.kind === 'network') return null;
  const path = Object.entries(kinds).find(([, kind]) => kind === operation.kind)![0];
  return JSON.stringify(await asOwner('GET', `${path}/${id}`));
};

test.each(Object.keys(askers))('every operation as asked by: %s', async name => {
  const { as, expected } = askers[name]!;
  for (const operation of operations) {
    const where = `${operation.method} ${operation.path} by ${name}`;
    const id = await freshId(operation.kind);
    const before = name === 'owner' ? null : await stateOf(operation, id);
    const sent = receiver.received.length;
    const answer = await ask(operation, as(operation), id);
    const status = expected(operation);
    if (status === null) expect([401, 403, 404, 405, 500], `${where} ${answer.text}`).not.toContain(answer.status);
    else expect(answer.status, `${where} ${answer.text}`).toBe(status);
    if (name === 'owner') continue;
    expect(await stateOf(operation, id), `${where} changed it`).toBe(before);
    expect(
      answer.text.includes(id) && operation.kind !== 'network' && operation.kind !== null,
      `${where} told of it`,
    ).toBe(false);
    if (status !== null && status >= 400) expect(receiver.received.length, `${where} sent something`).toBe(sent);
    if (status === 404) {
      const unknown = await ask(operation, as(operation), unknownId[operation.kind!]);
      expect(withoutRequestId(answer.text), where).toBe(withoutRequestId(unknown.text));
      expect(Object.keys(answer.headers).sort(), where).toEqual(Object.keys(unknown.headers).sort());
    }
  }
});

const eventsOf = async (accountId: string, environment: string): Promise<string[]> => {
  const text = 'select id from events where account_id = $1 and environment = $2::environment order by id desc';
  const rows = await scene.admin.db.query<{ id: string }>({ name: 'test-own-events', text }, [accountId, environment]);
  return rows.map(({ id }) => id);
};

test('lists hold what is the caller’s own and nothing else', async () => {
  const stranger = await scene.account();
  for (const kind of ['payment', 'endpoint', 'delivery'] as const) await freshId(kind);
  await scene.admin.db.script(`update deliveries set status = 'parked', parked_reason = 'all failed',
    next_attempt_at = null, finished_at = now() where id = '${await freshId('delivery')}'`);
  for (const { path, query, kind, scope } of operations.filter(each => each.method === 'GET')) {
    if (scope === null || kind !== null) continue;
    for (const asker of [
      { of: empty, key: empty.keys.sandbox, environment: 'sandbox' },
      { of: stranger, key: stranger.keys.sandbox, environment: 'sandbox' },
      { of: stranger, key: stranger.keys.production, environment: 'production' },
    ] as const) {
      const { data, pagination } = (await scene.client.call('GET', path + query, asker)).json;
      // Its own live key is a security event.
      const own = path === '/v1/events' ? await eventsOf(asker.of.id, asker.environment) : [];
      const ids = data.map(({ id }: { id: string }) => id);
      expect([ids, pagination.total ?? 0], `${path} in ${asker.environment}`).toEqual([own, 0]);
      expect([pagination.hasMore, pagination.nextCursor ?? null]).toEqual([false, null]);
    }
  }
});

test('the size of the matrix', () => {
  const cells = operations.length * Object.keys(askers).length;
  console.log(`isolation: ${operations.length} operations × ${Object.keys(askers).length} callers = ${cells} cells`);
  expect(operations.length).toBeGreaterThanOrEqual(25);
});
