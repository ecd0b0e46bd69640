import { readFile } from 'node:fs/promises';
import type { Corpus } from '../corpusScene.ts';

type Document = { paths: Record<string, Record<string, unknown>> };

/** Every documented route, with ids that do not exist. */
const routesOf = async (): Promise<string[]> => {
  const text = await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'unknown')}`),
  );
};

const wrongMethods = ['PUT', 'DELETE', 'PATCH', 'POST', 'GET', 'HEAD', 'OPTIONS'];

const paths = [
  '/',
  '/v1',
  '/v1/',
  '/v2/payments',
  '/v1/Payments',
  '/v1/payments/x/y/z',
  '/V1/payments',
  '//v1/payments',
  '/.env',
];

const headers: readonly (readonly [string, Record<string, string>])[] = [
  ['another scheme', { authorization: 'Basic YTpi' }],
  ['an empty key', { authorization: 'Bearer ' }],
  ['no scheme', { authorization: 'sk_test_x' }],
  ['a key that is none', { authorization: 'Bearer nothing' }],
  ['a key of the right form that does not exist', { authorization: `Bearer sk_test_${'A'.repeat(40)}` }],
  ['a key in X-Api-Key', { 'x-api-key': 'sk_test_x' }],
  ['plain HTTP before the proxy', { 'x-forwarded-proto': 'http' }],
];

/** Who may call: each documented route without a key, with a key that may do nothing of it, and at the wrong place. */
const routeRefusals = async (corpus: Corpus): Promise<void> => {
  const { florin, account } = corpus;
  const routes = (await routesOf()).filter(route => route.includes('/v1/'));
  const noKey = corpus.door('no key');
  const otherKey = corpus.door('key of the other environment');
  const noPermission = corpus.door('key without the permission');
  const wrongMethod = corpus.door('wrong method');
  const reader = await florin.key(account.id, 'sandbox', ['payments:read']);
  const webhookReader = await florin.key(account.id, 'sandbox', ['webhooks:read']);
  for (const route of routes) {
    await noKey(route, route, { key: null });
    await otherKey(route, route, { key: account.keys.production });
    const isForReader = route.startsWith('GET /v1/payments') || /^GET \/v1\/events(?!.*deliveries)/.test(route);
    await noPermission(route, route, { key: (isForReader ? webhookReader : reader).key });
  }
  const places = [...new Set(routes.map(route => route.split(' ')[1]!))];
  for (const place of places) {
    const method = wrongMethods.find(each => !routes.includes(`${each} ${place}`))!;
    await wrongMethod(`${method} ${place}`, `${method} ${place}`);
  }
};

const keyRefusals = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('keys');
  const { florin, account } = corpus;
  const list = 'GET /v1/payments?limit=1';
  for (const [name, each] of headers) await ask(name, list, { key: null, headers: each });
  await ask('production key in production', list, { environment: 'production' });
  await ask('sandbox key in production', list, { environment: 'production', key: account.keys.sandbox });
  const sql = (text: string): Promise<unknown> => florin.admin.db.script(text);
  const changes = {
    revoked: 'revoked_at = clock_timestamp()',
    expired: "expires_at = clock_timestamp() - interval '1 second'",
    'for another IP address': "ip_allow = '{203.0.113.7,2001:db8::/32}'",
  };
  for (const [name, change] of Object.entries(changes)) {
    const { id, key } = await florin.key(account.id, 'sandbox');
    await sql(`update api_keys set ${change} where id = '${id}'`);
    await ask(name, list, { key });
    if (name === 'for another IP address') {
      await ask('from its IP address', list, { key, headers: { 'x-forwarded-for': '2001:db8::1' } });
    }
  }
  const limited = await florin.account({ rateLimit: 2, burst: 0 });
  for (const time of ['first', 'second', 'third']) {
    await ask(`${time} of two a minute`, list, { key: limited.keys.sandbox });
  }
  await ask('a public route beyond the limit', 'GET /v1/networks/base', { key: limited.keys.sandbox });
};

const unknownPaths = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('paths');
  for (const path of paths) {
    await ask(`GET ${path}`, `GET ${path}`);
    await ask(`GET ${path}, without a key`, `GET ${path}`, { key: null });
    await ask(`POST ${path}`, `POST ${path}`, { body: {} });
  }
  for (const method of wrongMethods) await ask(`${method} /healthz`, `${method} /healthz`, { key: null });
};

export const refusals = async (corpus: Corpus): Promise<void> => {
  await routeRefusals(corpus);
  await keyRefusals(corpus);
  await unknownPaths(corpus);
};
