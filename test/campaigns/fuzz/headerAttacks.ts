import { type Attack, compose, goodBody, type Header, type Target } from './attack.ts';
import type { Random } from './random.ts';

const path = '/v1/payments';
const long = (length: number): string => 'x'.repeat(length);

/** Each is refused whatever the rest of the request says; the rest would create a payment. */
const hostile: readonly ((random: Random) => { what: string; headers: Header[]; without?: string[] })[] = [
  random => ({ what: 'a huge header', headers: [['X-Huge', long(16_384 + random.below(20_000))]] }),
  random => ({ what: 'a huge name', headers: [[long(16_384 + random.below(20_000)), 'x']] }),
  () => ({
    what: 'too many headers',
    headers: Array.from({ length: 3_000 }, (_, index): Header => [`X-${index}`, 'y']),
  }),
  () => ({ what: 'no Host', headers: [], without: ['host'] }),
  () => ({ what: 'two hosts', headers: [['Host', 'evil.example']] }),
  () => ({ what: 'the same host twice', headers: [['hOST', 'localhost']], without: [] }),
  random => ({
    what: 'an upgrade',
    headers: [
      ['Connection', 'Upgrade'],
      ['Upgrade', random.pick(['websocket', 'h2c', 'TLS/1.0', 'x'])],
    ],
  }),
  random => ({
    what: 'an expectation',
    headers: [['Expect', random.pick(['x', '200-ok', '100', '101-continue', '\xe9'])]],
  }),
  random => ({
    what: 'a broken name',
    headers: [
      [
        random.pick(['X Y', 'X\0Y', '(x)', 'X:Y\r\n Z', '\xe9', 'X"', 'X/Y', '', ' X', '\tX', 'X ', '@', '[x]', '{x}']),
        'x',
      ],
    ],
  }),
  random => ({
    what: 'a broken value',
    headers: [['X-A', random.pick(['a\0b', 'a\rb', 'a\nb', '\x01', '\x1f', 'a\x7fb', '\r\r', 'a\r\n\0: b'])]],
  }),
  () => ({ what: 'a folded line', headers: [['X-A', 'a\r\n b: c']] }),
  () => ({ what: 'a line without a colon', headers: [['X-A', 'a\r\nnothing here']] }),
];

export const badHeader = (random: Random, target: Target): Attack => {
  const { what, headers, without = [] } = random.pick(hostile)(random);
  return {
    category: 'header',
    what: `POST ${path} with ${what}: ${JSON.stringify(headers).slice(0, 80)}`,
    wire: compose(target, { path, headers, without, body: goodBody }),
    // Where the headers end early, what stands for the rest is thrown away with them.
    statuses: [400, 401, 415],
  };
};

const flip = (key: string, random: Random): string => {
  const at = 'sk_test_'.length + random.below(key.length - 'sk_test_'.length);
  const other = key[at] === 'A' ? 'B' : 'A';
  return key.slice(0, at) + other + key.slice(at + 1);
};

/** The Authorization headers of somebody without a right to be here. */
const strangers: readonly ((random: Random, target: Target) => Header[])[] = [
  () => [],
  (random, target) => [['Authorization', `Bearer ${flip(target.key, random)}`]],
  (_random, target) => [['Authorization', `Bearer ${target.productionKey}`]],
  (_random, target) => [['Authorization', `Bearer ${target.key}x`]],
  (_random, target) => [['Authorization', `Bearer ${target.key.slice(0, -1)}`]],
  (_random, target) => [['Authorization', `Bearer ${target.key.toUpperCase()}`]],
  (_random, target) => [['Authorization', `Bearer\t${target.key}`]],
  (_random, target) => [['Authorization', `Bearer "${target.key}"`]],
  (_random, target) => [['Authorization', `Bearer ${target.key}, Bearer ${target.key}`]],
  (_random, target) => [['Authorization', `Basic ${Buffer.from(`${target.key}:`).toString('base64')}`]],
  (_random, target) => [['Authorization', target.key]],
  (_random, target) => [['X-Api-Key', target.key]],
  (_random, target) => [['Cookie', `key=${target.key}`]],
  (_random, target) => [
    ['Authorization', 'Bearer nobody'],
    ['Authorization', `Bearer ${target.key}`],
  ],
  random => [['Authorization', `Bearer ${long(1 + random.below(8_000))}`]],
  random => [
    [
      'Authorization',
      random.pick([
        '',
        'Bearer',
        'Bearer ',
        'bearer',
        'Digest x',
        'Bearer \xe9\xff',
        'Bearer sk_test_',
        'Bearer null',
        'Bearer __proto__',
        "Bearer ' or 1=1",
        'Bearer sk_live_',
        'Token x',
      ]),
    ],
  ],
];

export const badKey = (random: Random, target: Target): Attack => {
  if (random.next() < 0.1) {
    return {
      category: 'key',
      what: `POST ${path} with a key that may only read`,
      wire: compose(target, {
        path,
        body: goodBody,
        without: ['authorization'],
        headers: [['Authorization', `Bearer ${target.readOnlyKey}`]],
      }),
      statuses: [403],
    };
  }
  const headers = random.pick(strangers)(random, target);
  return {
    category: 'key',
    what: `POST ${path} as ${(headers[0]?.[0] ?? 'nobody').slice(0, 40)}`,
    wire: compose(target, { path, body: goodBody, without: ['authorization'], headers }),
    statuses: [401, 429],
  };
};

const badTokens = ['', 'a b', 'a\tb', 'é', '\xe9', '\x80', 'ключ', long(256), long(8_000), 'a, b', ' a b ', '\xff\xfe'];

export const badIdempotencyKey = (random: Random, target: Target): Attack => {
  const value = Buffer.from(random.pick(badTokens)).toString('latin1');
  const isTwice = random.next() < 0.2;
  const headers: Header[] = isTwice
    ? [
        ['Idempotency-Key', 'one'],
        ['Idempotency-Key', 'two'],
      ]
    : [['Idempotency-Key', value]];
  const place = random.pick([
    { path, body: goodBody },
    { path: '/v1/webhooks', body: '{"url":"https://receiver.example/hook"}' },
    { path: `/v1/webhooks/${target.endpointId}/rotate` },
    { path: `/v1/webhooks/${target.endpointId}/test` },
    { path: `/v1/webhooks/${target.endpointId}/replay`, body: '{"from":"2026-01-01","to":"2126-01-01"}' },
    { path: `/v1/deliveries/dlv_${'0'.repeat(26)}/resend` },
    { path: `/v1/payments/${target.paymentId}/cancel` },
  ]);
  return {
    category: 'idempotency key',
    what: `POST ${place.path} ${isTwice ? 'two keys' : JSON.stringify(value).slice(0, 60)}`,
    wire: compose(target, { ...place, headers }),
    statuses: [400],
    param: 'Idempotency-Key',
  };
};
