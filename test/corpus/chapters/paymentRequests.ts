import type { Ask, Corpus } from '../corpusScene.ts';

export const ordinary = { amount: '25', currency: 'USDC', network: 'base' };

const long = (length: number): string => 'x'.repeat(length);
const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });

/** Bodies that create a payment. */
const accepted: readonly (readonly [name: string, body: unknown])[] = [
  ['three fields', ordinary],
  [
    'every field',
    {
      ...ordinary,
      description: 'Two chairs <b>& "a table"</b> – é 漢字 🪑',
      expiresIn: 900,
      metadata: { order: 17, list: [1.5, -0, 1e3, true, null, 'ü'], nested: { a: { b: [] } } },
      callbackUrl: 'https://shop.example/callback?order=17',
      redirectUrl: 'https://shop.example/thanks',
      externalId: 'order 17/é',
    },
  ],
  ['a currency in lower case', { ...ordinary, currency: 'usdc' }],
  ['another network', { ...ordinary, network: 'polygon', currency: 'USDT' }],
  ['native coin', { amount: '0.125', currency: 'ETH', network: 'ethereum' }],
  ['native coin with 18 decimals', { amount: '0.123456789012345678', currency: 'ETH', network: 'arbitrum' }],
  ['the smallest amount', { ...ordinary, amount: '0.000001' }],
  ['a large amount', { ...ordinary, amount: '123456789012345678.5' }],
  ['zeros around the amount', { ...ordinary, amount: '007.5000' }],
  ['the longest life', { ...ordinary, expiresIn: 2_592_000 }],
  ['an empty description', { ...ordinary, description: '' }],
  ['empty metadata', { ...ordinary, metadata: {} }],
  [
    'metadata written with spaces',
    '{"amount":"3","currency":"DAI","network":"bsc","metadata":{ "b" : 1.0,\n"a":1e2 } }',
  ],
  [
    'metadata with numbers that floats cannot hold',
    '{"amount":"3","currency":"USDC","network":"optimism","metadata":{"n":12345678901234567890,"z":0.10}}',
  ],
  ['a redirect to loopback', { ...ordinary, redirectUrl: 'http://127.0.0.1:9/back' }],
];

/** Bodies that are refused. */
const refused: readonly (readonly [name: string, body: unknown])[] = [
  ['an empty object', {}],
  ['no amount', { currency: 'USDC', network: 'base' }],
  ['no currency', { amount: '1', network: 'base' }],
  ['no network', { amount: '1', currency: 'USDC' }],
  ['an amount that is a number', { ...ordinary, amount: 25 }],
  ['an amount that is null', { ...ordinary, amount: null }],
  ...['0', '0.00', '-1', '1e3', '1,5', ' 1', '', '.5', '5.', '+1', 'NaN', '0x10', '0.0000001'].map(
    amount => [`the amount "${amount}"`, { ...ordinary, amount }] as const,
  ),
  ['an amount of 101 digits', { ...ordinary, amount: '1'.repeat(101) }],
  ['an amount beyond the limit', { ...ordinary, amount: '1'.repeat(60) }],
  ['an unknown currency', { ...ordinary, currency: 'DOGE' }],
  ['a currency that is a number', { ...ordinary, currency: 1 }],
  ['a currency that is too long', { ...ordinary, currency: long(101) }],
  ['an unknown network', { ...ordinary, network: 'mars' }],
  ['a network in upper case', { ...ordinary, network: 'BASE' }],
  ['a network that is a list', { ...ordinary, network: ['base'] }],
  ['an unknown field', { ...ordinary, colour: 'red' }],
  ['an unknown field with a long name', { ...ordinary, [long(150)]: 1 }],
  ['a description that is too long', { ...ordinary, description: long(1001) }],
  ['a description with a zero byte', { ...ordinary, description: 'a\u0000b' }],
  ['a description that is an object', { ...ordinary, description: {} }],
  ['expiresIn 0', { ...ordinary, expiresIn: 0 }],
  ['expiresIn with a fraction', { ...ordinary, expiresIn: 1.5 }],
  ['expiresIn that is text', { ...ordinary, expiresIn: '3600' }],
  ['expiresIn beyond 30 days', { ...ordinary, expiresIn: 2_592_001 }],
  ['metadata that is a list', { ...ordinary, metadata: [] }],
  ['metadata that is null', { ...ordinary, metadata: null }],
  ['metadata that is too large', { ...ordinary, metadata: { a: long(17_000) } }],
  ['metadata that is too deep', { ...ordinary, metadata: nested(17) }],
  ['a callbackUrl with http', { ...ordinary, callbackUrl: 'http://shop.example/x' }],
  ['a callbackUrl to a private address', { ...ordinary, callbackUrl: 'https://10.0.0.1/x' }],
  ['a callbackUrl that is no URL', { ...ordinary, callbackUrl: 'shop' }],
  ['a callbackUrl that is too long', { ...ordinary, callbackUrl: `https://shop.example/${long(2048)}` }],
  ['a callbackUrl with credentials', { ...ordinary, callbackUrl: 'https://me:secret@shop.example/' }],
  ['a redirectUrl with javascript', { ...ordinary, redirectUrl: 'javascript:alert(1)' }],
  ['a redirectUrl that is a number', { ...ordinary, redirectUrl: 5 }],
  ['an empty externalId', { ...ordinary, externalId: '' }],
  ['an externalId that is too long', { ...ordinary, externalId: long(256) }],
  ['an externalId that is taken', { ...ordinary, externalId: 'order 17/é' }],
  ['a list', [ordinary]],
  ['text as JSON', '"USDC"'],
  ['null as JSON', 'null'],
  ['JSON that ends too early', '{"amount":"25"'],
  ['JSON with a comma too many', '{"amount":"25","currency":"USDC","network":"base",}'],
  ['JSON with single quotes', "{'amount':'25'}"],
  ['a key twice', '{"amount":"25","amount":"26","currency":"USDC","network":"base"}'],
  ['a key twice inside of metadata', '{"amount":"25","currency":"USDC","network":"base","metadata":{"a":1,"a":2}}'],
  ['a lone surrogate', '{"amount":"25","currency":"USDC","network":"base","description":"\\ud800"}'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ['JSON that is nested too deep', `${'['.repeat(40)}${']'.repeat(40)}`],
  ['a body that is too large', JSON.stringify({ ...ordinary, description: long(70_000) })],
  ['an empty body', ''],
];

const types: readonly string[] = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=latin1',
  'application/jsonx',
];

const askTypes = async (ask: Ask): Promise<void> => {
  const body = JSON.stringify(ordinary);
  for (const type of types) {
    await ask(`the content type ${type}`, 'POST /v1/payments', { body, headers: { 'content-type': type } });
  }
  for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']) {
    await ask(`the content type ${type}`, 'POST /v1/payments', { body, headers: { 'content-type': type } });
  }
  const headers = { 'content-encoding': 'gzip' };
  await ask('a compressed body', 'POST /v1/payments', { body, headers });
  await ask('no body', 'POST /v1/payments');
};

const askIdempotently = async (ask: Ask): Promise<void> => {
  const again = (key: string) => ({ headers: { 'idempotency-key': key } });
  const post = 'POST /v1/payments';
  await ask('with an Idempotency-Key', post, { body: ordinary, ...again('create-1') });
  await ask('with the same Idempotency-Key', post, { body: ordinary, ...again('create-1') });
  await ask('with the key and another body', post, { body: { ...ordinary, amount: '26' }, ...again('create-1') });
  await ask('with the key and other spaces', post, { body: JSON.stringify(ordinary, null, 1), ...again('create-1') });
  await ask('with a key of 255 characters', post, { body: ordinary, ...again('k'.repeat(255)) });
  await ask('with a key of 256 characters', post, { body: ordinary, ...again('k'.repeat(256)) });
  await ask('with an empty key', post, { body: ordinary, ...again('') });
  await ask('with a key that has a space', post, { body: ordinary, ...again('a b') });
  const taken = { ...ordinary, externalId: 'order 17/é' };
  await ask('a conflict with a key', post, { body: taken, ...again('create-2') });
  await ask('the conflict again', post, { body: taken, ...again('create-2') });
  await ask('the conflict with another body', post, { body: ordinary, ...again('create-2') });
  await ask('a refusal with a key is not kept', post, { body: {}, ...again('create-3') });
  await ask('so the key is free', post, { body: ordinary, ...again('create-3') });
};

/** POST /v1/payments. */
export const paymentRequests = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('create');
  for (const [name, body] of accepted) await ask(name, 'POST /v1/payments', { body });
  for (const [name, body] of refused) await ask(name, 'POST /v1/payments', { body });
  await askTypes(ask);
  await askIdempotently(ask);
};
