import { type Attack, compose, goodBody, type Target } from './attack.ts';
import type { Random } from './random.ts';
import { oddText } from './values.ts';

const badNumbers = [
  '',
  '-1',
  '1.5',
  '1.0',
  '1e1',
  '0x10',
  '+1',
  '%201',
  '1%20',
  'NaN',
  'Infinity',
  '٣',
  '１',
  '99999999999999999999',
  '1;offset=2',
  '1,2',
  'true',
  'null',
  '[]',
  '%00',
  '1%00',
  '%ff',
  '1%',
  "1'or'1",
];
const badTimes = [
  '',
  'yesterday',
  '2026',
  '2026-1-1',
  '2026-02-30',
  '2026-13-01',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:00%2B99:00',
  '12345',
  '-1',
  '0',
  'NaN',
  '2026-01-01T00:00:00ZZ',
  '%002026-01-01',
  '+2026-01-01',
  '2026/01/01',
  '%ff',
];
const tooLong = (length: number) => 'x'.repeat(length);

// biome-ignore format: one list
const badParameters: Readonly<Record<string, readonly string[]>> = {
  limit: [...badNumbers, '0', '101', '1000000'],
  offset: [...badNumbers, '9007199254740993'],
  status: ['', 'Pending', 'paid', 'pending%20', 'pending,expired', '__proto__', '%00', '%ff', '*', 'null'],
  from: [...badTimes, '2027-01-01&to=2026-01-01'],
  to: badTimes,
  currency: ['', tooLong(21), 'US%00DC', `${'%F0%9D%9F%99'.repeat(21)}`],
  network: ['', 'Base', 'nope', 'base%00', '__proto__', 'constructor'],
  address: ['', tooLong(101), '0x%00'],
  externalId: ['', tooLong(256), 'a%00', '%00'],
};
const badCursors = [
  '',
  '0',
  '-1',
  'null',
  '%00',
  '%ff',
  tooLong(41),
  `evt_${'0'.repeat(25)}`,
  `evt_${'0'.repeat(27)}`,
  `evt_${'z'.repeat(26)}`,
  `EVT_${'0'.repeat(26)}`,
  `pay_${'0'.repeat(26)}`,
  `evt_${'0'.repeat(25)}u`,
];
// biome-ignore format: one list
const badEventParameters: Readonly<Record<string, readonly string[]>> = {
  limit: badParameters.limit!,
  cursor: [...badCursors, `dlv_${'0'.repeat(26)}`],
  type: ['', '*', 'Payment.Created', 'payment.paid', 'payment.created%20', 'payment.created,payment.late', '%00', '__proto__', 'null'],
  paymentId: ['', tooLong(41), '%00', 'pay_%00'],
  from: badParameters.from!,
  to: badTimes,
};
const badDeliveryParameters: Readonly<Record<string, readonly string[]>> = {
  limit: badParameters.limit!,
  cursor: [...badCursors, `evt_${'0'.repeat(26)}`],
  status: ['', 'Scheduled', 'failed', 'pending', 'succeeded%20', 'scheduled,parked', '%00', '__proto__'],
};

/** A list: where it is, what may be wrong with its parameters, and a parameter that is right. */
type List = { path: (target: Target) => string; bad: Readonly<Record<string, readonly string[]>>; good: string };
const payments: List = { path: () => '/v1/payments', bad: badParameters, good: 'status=pending' };
const otherLists: readonly List[] = [
  { path: () => '/v1/webhooks', bad: { limit: badParameters.limit!, offset: badParameters.offset! }, good: '' },
  { path: () => '/v1/events', bad: badEventParameters, good: 'type=payment.created' },
  {
    path: target => `/v1/webhooks/${target.endpointId}/deliveries`,
    bad: badDeliveryParameters,
    good: 'status=succeeded',
  },
  {
    path: () => '/v1/deliveries',
    bad: { ...badDeliveryParameters, status: [...badDeliveryParameters.status!, 'scheduled', 'succeeded'] },
    good: 'status=parked',
  },
];
const strangers = [
  'unknown',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'Limit',
  'LIMIT',
  'limit%5B%5D',
  'limit%5Ba%5D',
  'limit%00',
  '%00',
  '%ff',
  'limit%20',
  'api_key',
  'page',
  'sort',
  'filter',
  'amp;limit',
  '%F0%9F%92%A9',
  '0',
  'a.b',
  '$where',
];

const repeated = (name: string): string => `${name}=1&${name}=1`;

export const badQuery = (random: Random, target: Target): Attack => {
  const list = random.next() < 0.5 ? payments : random.pick(otherLists);
  const path = list.path(target);
  const names = Object.keys(list.bad);
  const luck = random.next();
  let query: string;
  if (luck < 0.6) {
    const name = random.pick(names);
    query = `${name}=${random.pick(list.bad[name]!)}`;
  } else if (luck < 0.85) {
    const name =
      random.next() < 0.7 ? random.pick(strangers) : `u${encodeURIComponent(oddText(random, 1 + random.below(100)))}`;
    query = `${name}=${random.pick(['', '1', '%00', '%', '%zz', 'a%20b', tooLong(4_000), '1&x=2&y=3'])}`;
  } else if (luck < 0.95) {
    query = repeated(random.pick(names));
  } else {
    query = Array.from({ length: 500 }, (_, index) => `k${index}=${random.below(10)}`).join('&');
  }
  const order = list.good !== '' && random.next() < 0.5 ? `${list.good}&${query}` : query;
  return {
    category: 'query',
    what: `GET ${path}?${order.slice(0, 120)}`,
    wire: compose(target, { method: 'GET', path: `${path}?${order}` }),
    statuses: [400],
  };
};

// biome-ignore format: one list
const badSegments = [
  '%00', '%2e%2e', '..', '.', '...', '%2f', '%5c', '\\', '%ff', '%c0%ae', '%zz', '%', '%e0%80%af', '__proto__', 'constructor', 'null', 'undefined', '*', '0', '-1', "'", '"', '<script>', '%0d%0a', '%250a',
  '%F0%9F%92%A9', '%E2%80%AE', '%ED%A0%80', 'pay_', 'we_', 'evt_00000000000000000000000000', 'pay_00000000000000000000000000', 'we_00000000000000000000000000', 'pay_ZZZZZZZZZZZZZZZZZZZZZZZZZZ', 'pay_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  '{id}', ':id', '$%7Bjndi:x%7D', ';a=b', 'a;b', '~', '%7e', '%25', '%3f', '%23', '\xe9\xff', '[', '|', '^',
];

// biome-ignore format: one list
const oddPaths: readonly ((random: Random, target: Target) => string)[] = [
  (random, target) => `/v1/payments/${target.paymentId}${random.pick(['%00', '%20', '.json', '/', '%2fcancel', 'x', '%0a', ';x', '/..', '/../..', '//', '/.'])}`,
  (_random, target) => `/v1/payments/${target.paymentId.toUpperCase()}`,
  (_random, target) => `/v1/payments/${target.endpointId}`,
  (_random, target) => `/v1/webhooks/${target.paymentId}`,
  random => `/v1/payments/${'a'.repeat(150 + random.below(12_000))}`,
  random => `/${'a/'.repeat(100 + random.below(5_000))}`,
  random => `/v1/${'../'.repeat(1 + random.below(50))}etc/passwd`,
  random => random.pick(['/V1/payments', '/v1/Payments', '//v1/payments', '/v1//payments', '/v2/payments', '/v1', '/v1/', '/', '/v1/payments%2f', '/v1%2fpayments', '/./v1/payments', '/v1/payment', '/admin', '/.env', '/.git/config', '/v1/payments;a', '/v1/payments\\', '/metrics', '/debug', '/favicon.ico', '/%2e/v1/payments', '/v1/networks/', '/v1/webhooks/', '/healthz/', '/readyz/x', '/openapi.json/', '/docs/../openapi.json', '/v1/payments/?x', '/checkout/..%2f..%2fetc%2fpasswd']),
  random => random.pick(['*', 'x', 'v1/payments', '?', '#', 'http://localhost/v1/nothing', 'https://localhost/v1/nothing', 'ftp://localhost/x', '/v1/pay\xc3\xa9', '/v1/payments x', '/\x7f', '/\x01', '/a\tb', 'localhost:443', ':', '%']),
];

const tails: Readonly<Record<string, readonly string[]>> = {
  '/v1/payments/': ['', '', '/cancel', '/resolve', '/x'],
  '/v1/webhooks/': ['', '/deliveries', '/x'],
  '/v1/events/': ['', '/deliveries', '/x'],
  '/v1/deliveries/': ['', '/resend', '/x'],
  '/v1/networks/': [''],
  '/v1/': [''],
  '/': [''],
};

export const badPath = (random: Random, target: Target): Attack => {
  const isSegment = random.next() < 0.5;
  const base = random.pick(Object.keys(tails));
  const tail = random.pick(tails[base]!);
  const path = isSegment ? `${base}${random.pick(badSegments)}${tail}` : random.pick(oddPaths)(random, target);
  const isPost = ['/cancel', '/resolve', '/resend'].includes(tail);
  return {
    category: 'path',
    what: `${isPost ? 'POST' : 'GET'} ${path.slice(0, 120)}`,
    wire: compose(target, isPost ? { path, body: '{"action":"accept"}' } : { method: 'GET', path }),
  };
};

const knownPaths: readonly { path: (target: Target) => string; methods: readonly string[] }[] = [
  { path: () => '/v1/payments', methods: ['GET', 'POST'] },
  { path: target => `/v1/payments/${target.paymentId}`, methods: ['GET'] },
  { path: target => `/v1/payments/${target.paymentId}/cancel`, methods: ['POST'] },
  { path: () => '/v1/webhooks', methods: ['GET', 'POST'] },
  { path: target => `/v1/webhooks/${target.endpointId}`, methods: ['GET', 'PATCH', 'DELETE'] },
  { path: target => `/v1/webhooks/${target.endpointId}/rotate`, methods: ['POST'] },
  { path: target => `/v1/webhooks/${target.endpointId}/deliveries`, methods: ['GET'] },
  { path: target => `/v1/webhooks/${target.endpointId}/replay`, methods: ['POST'] },
  { path: () => '/v1/events', methods: ['GET'] },
  { path: () => `/v1/events/evt_${'0'.repeat(26)}`, methods: ['GET'] },
  { path: () => '/v1/deliveries', methods: ['GET'] },
  { path: () => `/v1/deliveries/dlv_${'0'.repeat(26)}`, methods: ['GET'] },
  { path: () => `/v1/deliveries/dlv_${'0'.repeat(26)}/resend`, methods: ['POST'] },
  { path: () => '/v1/networks', methods: ['GET'] },
  { path: () => '/healthz', methods: ['GET'] },
  { path: () => '/openapi.json', methods: ['GET'] },
];
const httpMethods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'LOCK',
  'SEARCH',
  'REPORT',
  'PURGE',
  'LINK',
  'BIND',
  'M-SEARCH',
  'ACL',
];
const noMethods = [
  'FOO',
  'get',
  'Post',
  'G',
  'GETT',
  'GE T',
  '',
  ' ',
  'GET\t',
  '\xe9',
  'G\0T',
  'POST\r',
  '{',
  'X'.repeat(1_000),
  'PRI',
  'CONNEC',
];

export const badMethod = (random: Random, target: Target): Attack => {
  const known = random.pick(knownPaths);
  const isWord = random.next() < 0.3;
  const method = isWord
    ? random.pick(noMethods)
    : random.pick(httpMethods.filter(each => !known.methods.includes(each)));
  const path = known.path(target);
  const body = !isWord && ['PUT', 'PATCH', 'POST'].includes(method) ? { body: goodBody } : {};
  return {
    category: 'method',
    what: `${JSON.stringify(method).slice(0, 40)} ${path}`,
    wire: compose(target, { method, path, ...body }),
    statuses: isWord ? [400] : [405],
    isHead: method === 'HEAD',
  };
};
