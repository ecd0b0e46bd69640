import type { FastifyRequest } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import type { Environment } from '../../src/core/environment.ts';
import { silentLog } from '../../src/core/log.ts';
import { createCallers } from '../../src/engine/access/callers.ts';
import type { Operation } from '../../src/http/docs/openapi.ts';
import { createAuthentication } from '../../src/http/edge/authenticate.ts';
import type { Arrival } from '../../src/http/edge/route.ts';
import { createLocalLimiter } from '../../src/limits/localLimiter.ts';
import { generateApiKey, parseApiKey } from '../../src/vault/apiKeys.ts';
import { dumpDatabase, hexOf } from '../support/dumpDatabase.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey, endKey, type MadeKey } from '../support/operator.ts';

let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
});

const list = (headers: Record<string, string>, environment: Environment = 'sandbox') =>
  scene.client.call('GET', '/v1/payments', { headers, environment });
const keyWith = (options: Partial<MadeKey>) =>
  createKey(scene.admin, {
    accountId: account.id,
    environment: 'sandbox',
    name: '',
    scopes: permissions,
    ipAllow: null,
    expiresAt: null,
    ...options,
  });

describe('a request without a living key is 401', () => {
  const broken = (change: (key: string) => string) => () => `Bearer ${change(account.keys.sandbox)}`;
  const flipped = (character: string) => (character === 'x' ? 'y' : 'x');
  test.each<[string, () => string | null]>([
    ['no Authorization header', () => null],
    ['an empty header', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['more spaces than anybody types', () => `Bearer${' '.repeat(5)}${account.keys.sandbox}`],
    ['the key without a scheme', () => account.keys.sandbox],
    ['another scheme', () => `Basic ${Buffer.from(`${account.keys.sandbox}:`).toString('base64')}`],
    ['a word that is no key', () => 'Bearer secret'],
    ['an unknown prefix', broken(key => key.replace('sk_test_', 'sk_prod_'))],
    ['a key cut short', broken(key => key.slice(0, -1))],
    ['a key with more behind it', broken(key => `${key}x`)],
    ['two keys', broken(key => `${key}, ${key}`)],
    ['a wrong checksum', broken(key => key.slice(0, -1) + flipped(key.at(-1)!))],
    ['a changed body', broken(key => key.slice(0, 10) + flipped(key[10]!) + key.slice(11))],
    ['the other prefix on the same body', broken(key => key.replace('sk_test_', 'sk_live_'))],
    ['a well-formed key that nobody was given', () => `Bearer ${generateApiKey('sandbox').key}`],
  ])('%s', async (_name, header) => {
    const authorization = header();
    const answer = await list(authorization === null ? {} : { authorization });
    expect(answer.status, answer.text).toBe(401);
    expect(answer.json.error).toEqual({
      code: 'unauthorized',
      message: expect.stringMatching(/key/i),
      requestId: answer.headers['x-request-id'],
    });
    expect(answer.text).not.toContain(account.keys.sandbox.slice(8, 40));
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('a revoked key', async () => {
    const { id, key } = await keyWith({});
    await endKey(scene.admin, id);
    const answer = await list({ authorization: `Bearer ${key}` });
    expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.json.error.message).toMatch(/revoked/);
  });

  test('an expired key; one that expires later is good', async () => {
    const past = await keyWith({ expiresAt: new Date(Date.now() - 1_000) });
    const answer = await list({ authorization: `Bearer ${past.key}` });
    expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.json.error.message).toMatch(/expired/);
    const future = await keyWith({ expiresAt: new Date(Date.now() + 3_600_000) });
    expect((await list({ authorization: `Bearer ${future.key}` })).status).toBe(200);
  });

  test.each([
    ['sandbox', 'production'],
    ['production', 'sandbox'],
  ] as const)('a %s key at the address of %s, and the message names the right one', async (own, other) => {
    const answer = await list({ authorization: `Bearer ${account.keys[own]}` }, other);
    expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.json.error.message).toContain(scene.florin.urls[own]);
    expect(answer.json.error.message).not.toContain(scene.florin.urls[other]);
  });
});

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be written %s', async scheme => {
  expect((await list({ authorization: `${scheme} ${account.keys.sandbox}` })).status).toBe(200);
});

test('only keys that belong to somebody are remembered', async () => {
  let parsed = 0;
  const authentication = createAuthentication({
    callers: createCallers({ ...scene.admin, log: silentLog }, () => performance.now()),
    limiter: createLocalLimiter(() => performance.now()),
    parseKey: text => {
      parsed++;
      return parseApiKey(text);
    },
    nowMs: () => Date.now(),
    publicUrl: environment => scene.florin.urls[environment],
    noteUse() {},
  });
  const ask = async (authorization: string) => {
    const request = { headers: { authorization } } as FastifyRequest;
    const at: Arrival = { environment: 'sandbox', address: '127.0.0.1', headers: [], caller: null };
    return (await authentication.admitPublic(request, at))?.accountId ?? null;
  };
  const minted = generateApiKey('sandbox').key;
  expect([await ask(`Bearer ${minted}`), await ask(`Bearer ${minted}`)]).toEqual([null, null]);
  expect(parsed, 'a stranger’s key is read anew each time').toBe(2);
  const forms = ['Bearer ', 'bearer ', 'Bearer   '].map(scheme => scheme + account.keys.sandbox);
  for (const form of forms) expect(await ask(form)).toBe(account.id);
  expect(parsed, 'a known key is read once, however it is sent').toBe(3);
});

test('each route refuses a key that lacks its scope alone, naming it, and takes one that has it alone', async () => {
  const document = await scene.client.call('GET', '/openapi.json');
  const paths = document.json.paths as Record<string, Record<string, Operation>>;
  const guarded = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) =>
      security
        ? [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/, 'none'), scope: security[0]!.apiKey[0]! }]
        : [],
    ),
  );
  expect(new Set(guarded.map(each => each.scope))).toEqual(new Set(permissions));
  for (const scope of permissions) {
    const lacking = await keyWith({ scopes: permissions.filter(each => each !== scope) });
    const having = await keyWith({ scopes: [scope] });
    for (const { method, path } of guarded.filter(each => each.scope === scope)) {
      const refused = await scene.client.call(method, path, { key: lacking.key });
      expect([refused.status, refused.json.error?.code], `${method} ${path}`).toEqual([403, 'permission_denied']);
      expect(refused.json.error.message).toContain(scope);
      expect(refused.json.error.param).toBeUndefined();
      const admitted = await scene.client.call(method, path, { key: having.key });
      expect([401, 403], `${method} ${path} with ${scope}`).not.toContain(admitted.status);
    }
  }
});

test('the seed’s routes ask for the scopes that their names say', async () => {
  const { paths } = (await scene.client.call('GET', '/openapi.json')).json;
  const scopeOf = (method: string, path: string) => paths[path]?.[method]?.security?.[0]?.apiKey?.[0] ?? null;
  expect(scopeOf('post', '/v1/payments')).toBe('payments:write');
  expect(scopeOf('get', '/v1/payments/{id}')).toBe('payments:read');
  expect(scopeOf('get', '/v1/payments')).toBe('payments:read');
  expect(scopeOf('get', '/v1/webhooks')).toBe('webhooks:read');
  expect(scopeOf('post', '/v1/webhooks')).toBe('webhooks:write');
  expect(scopeOf('delete', '/v1/webhooks/{id}')).toBe('webhooks:write');
  expect(scopeOf('post', '/v1/webhooks/{id}/test')).toBe('webhooks:write');
  expect(scopeOf('get', '/v1/networks')).toBeNull();
  expect(scopeOf('get', '/v1/networks/{slug}')).toBeNull();
});

test('a key with an address list is good from there only', async () => {
  const elsewhere = await keyWith({ ipAllow: ['203.0.113.0/24', '2001:db8::/32'] });
  const refused = await list({ authorization: `Bearer ${elsewhere.key}` });
  expect([refused.status, refused.json.error.code]).toEqual([403, 'permission_denied']);
  const here = await keyWith({ ipAllow: ['127.0.0.0/8', '::1'] });
  expect((await list({ authorization: `Bearer ${here.key}` })).status).toBe(200);
});

test('a key is its prefix, 32 base62 characters and 6 of a checksum, and its fragments are nowhere in the database', async () => {
  for (const environment of ['sandbox', 'production'] as const) {
    const key = account.keys[environment];
    expect(key).toMatch(environment === 'sandbox' ? /^sk_test_[0-9A-Za-z]{38}$/ : /^sk_live_[0-9A-Za-z]{38}$/);
    await list({ authorization: `Bearer ${key}` }, environment);
    const dump = await dumpDatabase(scene.admin.db);
    expect(dump).toContain(account.keyIds[environment]);
    for (let start = 8; start + 6 <= 40; start++) {
      const fragment = key.slice(start, start + 6);
      expect(dump.includes(fragment), 'a fragment of a key').toBe(false);
      expect(dump.includes(hexOf(fragment)), 'a fragment of a key, in hex').toBe(false);
    }
  }
});
