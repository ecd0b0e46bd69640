import type { Answer } from '../../support/send.ts';
import type { Ask, Corpus } from '../corpusScene.ts';
import { ordinary } from './paymentRequests.ts';

const noEndpoint = `we_${'0'.repeat(26)}`;

const accepted: readonly (readonly [string, object])[] = [
  ['a URL alone', { url: 'https://shop.example/hooks' }],
  [
    'everything',
    { url: 'https://shop.example/é?a=1#part', events: ['payment.completed', 'payment.late'], description: 'Shop' },
  ],
  ['all events', { url: 'https://shop.example:8443/', events: ['*'], description: null }],
  ['an empty description', { url: 'https://SHOP.example', description: '' }],
];

const url = 'https://shop.example/hooks';
const refused: readonly (readonly [string, unknown])[] = [
  ['no URL', {}],
  ['a URL that is a number', { url: 1 }],
  ['a URL that is no URL', { url: 'shop' }],
  ['a URL that is too long', { url: `https://shop.example/${'x'.repeat(2048)}` }],
  ['plain HTTP', { url: 'http://shop.example/hooks' }],
  ['a private address', { url: 'https://192.168.1.1/hooks' }],
  ['a link-local address', { url: 'https://169.254.169.254/latest' }],
  ['an address of IPv6', { url: 'https://[fd00::1]/hooks' }],
  ['credentials', { url: 'https://me:secret@shop.example/' }],
  ['no events', { url, events: [] }],
  ['an unknown event', { url, events: ['payment.paid'] }],
  ['an event twice', { url, events: ['payment.late', 'payment.late'] }],
  ['events that are text', { url, events: '*' }],
  ['too many events', { url, events: Array(20).fill('*') }],
  ['a description that is too long', { url, description: 'x'.repeat(1001) }],
  ['a description that is a number', { url, description: 1 }],
  ['an unknown field', { url, secret: 'mine' }],
  ['a status', { url, status: 'disabled' }],
  ['a list', []],
  ['bad JSON', '{"url":'],
];

const changes: readonly (readonly [string, unknown])[] = [
  ['the description', { description: 'New <name>' }],
  ['the events', { events: ['payment.created'] }],
  ['the URL', { url: 'https://shop.example/elsewhere' }],
  ['disabled', { status: 'disabled' }],
  ['disabled again', { status: 'disabled' }],
  ['enabled', { status: 'enabled' }],
  ['all at once', { url, events: ['*'], description: null, status: 'enabled' }],
  ['nothing', {}],
  ['an unknown status', { status: 'paused' }],
  ['an unknown field', { id: noEndpoint }],
  ['a private URL', { url: 'https://10.1.2.3/' }],
  ['no events', { events: [] }],
  ['null', 'null'],
  ['bad JSON', '{]'],
];

const createEndpoints = async (ask: Ask): Promise<string> => {
  const ids: string[] = [];
  for (const [name, body] of accepted) ids.push((await ask(`create: ${name}`, 'POST /v1/webhooks', { body })).json.id);
  for (const [name, body] of refused) await ask(`create: ${name}`, 'POST /v1/webhooks', { body });
  await ask('create: no body', 'POST /v1/webhooks');
  const headers = { 'idempotency-key': 'hook-1' };
  await ask('create: with an Idempotency-Key', 'POST /v1/webhooks', { body: { url }, headers });
  await ask('create: the same again', 'POST /v1/webhooks', { body: { url }, headers });
  await ask('create: the key with another body', 'POST /v1/webhooks', { body: { url, events: ['*'] }, headers });
  const environment = 'production';
  await ask('create: in production', 'POST /v1/webhooks', { body: { url }, environment });
  await ask('create: to loopback in production', 'POST /v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/' },
    environment,
  });
  for (const query of [
    '',
    '?limit=2',
    '?limit=2&offset=1',
    '?offset=100',
    '?limit=0',
    '?offset=x',
    '?status=enabled',
  ]) {
    await ask(`list: "${query}"`, `GET /v1/webhooks${query}`);
  }
  await ask('list: in production', 'GET /v1/webhooks', { environment });
  return ids[0]!;
};

const changeEndpoint = async (ask: Ask, id: string): Promise<void> => {
  const one = `/v1/webhooks/${id}`;
  await ask('read', `GET ${one}`);
  for (const [name, body] of changes) await ask(`change: ${name}`, `PATCH ${one}`, { body });
  await ask('change: no body', `PATCH ${one}`);
  await ask('change: in production', `PATCH ${one}`, { body: { description: 'x' }, environment: 'production' });
  const headers = { 'idempotency-key': 'rotate-1' };
  await ask('rotate', `POST ${one}/rotate`, { headers });
  await ask('rotate: the same again', `POST ${one}/rotate`, { headers });
  await ask('rotate: the key with another body', `POST ${one}/rotate`, { headers, body: {} });
  await ask('rotate: an unknown field', `POST ${one}/rotate`, { body: { secret: 'x' } });
  for (const each of [noEndpoint, 'we_x']) {
    await ask(`read: ${each}`, `GET /v1/webhooks/${each}`);
    await ask(`change: ${each}`, `PATCH /v1/webhooks/${each}`, { body: { description: 'x' } });
    await ask(`rotate: ${each}`, `POST /v1/webhooks/${each}/rotate`);
    await ask(`test: ${each}`, `POST /v1/webhooks/${each}/test`);
    await ask(`delete: ${each}`, `DELETE /v1/webhooks/${each}`);
    await ask(`deliveries: ${each}`, `GET /v1/webhooks/${each}/deliveries`);
    await ask(`replay: ${each}`, `POST /v1/webhooks/${each}/replay`, {
      body: { from: '2026-01-01', to: '2026-01-02' },
    });
  }
};

const sendTests = async ({ receiver }: Corpus, ask: Ask): Promise<void> => {
  const { json } = await ask('create: on loopback', 'POST /v1/webhooks', { body: { url: `${receiver.url}/hook?a=1` } });
  const test = `POST /v1/webhooks/${json.id}/test`;
  await ask('test: no body', test);
  await ask('test: an empty object', test, { body: {} });
  for (const type of ['payment.completed', 'webhook.test']) await ask(`test: ${type}`, test, { body: { type } });
  await ask('test: an unknown type', test, { body: { type: 'payment.paid' } });
  await ask('test: an unknown field', test, { body: { kind: 'webhook.test' } });
  await ask('test: in production', test, { environment: 'production' });
  const headers = { 'idempotency-key': 'test-1' };
  await ask('test: with an Idempotency-Key', test, { headers });
  await ask('test: the same again', test, { headers });
  for (const status of [204, 301, 410, 503]) {
    receiver.answer = response => response.writeHead(status).end();
    await ask(`test: answered ${status}`, test);
  }
  receiver.answer = response => response.destroy();
  await ask('test: not answered', test);
  receiver.reset();
  await ask('delete', `DELETE /v1/webhooks/${json.id}`);
  await ask('delete: again', `DELETE /v1/webhooks/${json.id}`);
  await ask('test: deleted', test);
};

const badFeeds = [
  'limit=0',
  'limit=101',
  'cursor=x',
  `cursor=pay_${'0'.repeat(26)}`,
  'offset=1',
  `cursor=${'x'.repeat(41)}`,
];

/** Events and deliveries of an account whose only endpoint gets nothing, because this Florin delivers nothing. */
const inspect = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('events');
  const { sandbox: key } = (await corpus.florin.account()).keys;
  const get = (name: string, path: string): Promise<Answer> => ask(name, `GET /v1${path}`, { key });
  const { json: endpoint } = await ask('an endpoint', 'POST /v1/webhooks', { key, body: { url } });
  const made: Answer['json'][] = [];
  for (const amount of ['1', '2', '3']) {
    made.push((await ask(`payment ${amount}`, 'POST /v1/payments', { key, body: { ...ordinary, amount } })).json);
  }
  await ask('cancel a payment', `POST /v1/payments/${made[1].id}/cancel`, { key });
  await get('all', '/events');
  const first = await get('a page', '/events?limit=2');
  await get('the next page', `/events?limit=2&cursor=${first.json.pagination.nextCursor}`);
  await get('of a type', '/events?type=payment.canceled');
  await get('of a payment', `/events?paymentId=${made[1].id}`);
  await get('of no payment', '/events?paymentId=nothing');
  await get('of the past', '/events?from=2020-01-01&to=2020-01-02');
  await get('of all times', '/events?from=1960-01-01&to=2099-01-01&limit=1');
  for (const query of [...badFeeds, 'type=payment.paid', 'paymentId=', 'from=x', 'from=2026-02-01&to=2026-01-01']) {
    await get(query, `/events?${query}`);
  }
  const { id } = first.json.data[0];
  await get('one', `/events/${id}`);
  await get('an unknown one', `/events/evt_${'0'.repeat(26)}`);
  await get('no id', '/events/evt_x');
  await ask('one of another account', `GET /v1/events/${id}`);
  await get('deliveries of one', `/events/${id}/deliveries`);
  await get('deliveries of one, empty page', `/events/${id}/deliveries?cursor=dlv_${'0'.repeat(26)}`);
  await get('deliveries of an unknown one', `/events/evt_${'0'.repeat(26)}/deliveries`);
  await get('deliveries of one: limit=0', `/events/${id}/deliveries?limit=0`);
  await inspectDeliveries(ask, key, endpoint.id);
};

const inspectDeliveries = async (ask: Ask, key: string, endpointId: string): Promise<void> => {
  const log = `/v1/webhooks/${endpointId}/deliveries`;
  const get = (name: string, path: string): Promise<Answer> => ask(name, `GET ${path}`, { key });
  const all = await get('deliveries', log);
  const page = await get('deliveries: a page', `${log}?limit=3`);
  await get('deliveries: the next page', `${log}?limit=3&cursor=${page.json.pagination.nextCursor}`);
  for (const query of ['status=scheduled&limit=1', 'status=succeeded', 'status=parked', 'status=lost', ...badFeeds]) {
    await get(`deliveries: ${query}`, `${log}?${query}`);
  }
  const one = `/v1/deliveries/${all.json.data[0].id}`;
  await get('a delivery', one);
  await ask('a delivery of another account', `GET ${one}`);
  await get('an unknown delivery', `/v1/deliveries/dlv_${'0'.repeat(26)}`);
  await get('parked deliveries', '/v1/deliveries?status=parked');
  for (const query of [
    '',
    '?status=scheduled',
    '?status=parked&limit=0',
    '?status=parked&cursor=x',
    '?status=parked&type=x',
  ]) {
    await get(`parked: "${query}"`, `/v1/deliveries${query}`);
  }
  const headers = { 'idempotency-key': 'resend-1' };
  await ask('resend', `POST ${one}/resend`, { key, headers });
  await ask('resend: the same again', `POST ${one}/resend`, { key, headers });
  await ask('resend: an unknown field', `POST ${one}/resend`, { key, body: { now: true } });
  await ask('resend: an unknown one', `POST /v1/deliveries/dlv_${'0'.repeat(26)}/resend`, { key });
  await ask('resend: of another account', `POST ${one}/resend`);
  await replay(ask, key, `POST /v1/webhooks/${endpointId}/replay`);
};

const replay = async (ask: Ask, key: string, request: string): Promise<void> => {
  const range = { from: '2020-01-01', to: '2099-01-01T00:00:00+01:00' };
  const headers = { 'idempotency-key': 'replay-1' };
  await ask('replay', request, { key, body: range, headers });
  await ask('replay: the same again', request, { key, body: range, headers });
  await ask('replay: the key with another body', request, { key, body: { ...range, from: '2021-01-01' }, headers });
  await ask('replay: the past', request, { key, body: { from: '1960-01-01', to: '2020-01-02' } });
  const bad = [
    {},
    { from: range.from },
    { to: range.to },
    { ...range, from: 5 },
    { ...range, type: 'x' },
    { from: '2026-02-01', to: '2026-01-01' },
    { ...range, to: 'soon' },
  ];
  for (const body of bad) await ask(`replay: ${JSON.stringify(body)}`, request, { key, body });
  await ask('replay: no body', request, { key });
};

/** Webhook endpoints, events and deliveries. */
export const webhooks = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('webhooks');
  const id = await createEndpoints(ask);
  await changeEndpoint(ask, id);
  await sendTests(corpus, ask);
  await inspect(corpus);
};
