import { type Attack, compose, goodBody, type Header, type Target } from './attack.ts';
import type { Random } from './random.ts';

const path = '/v1/payments';
const size = String(goodBody.length);
const sizeHex = goodBody.length.toString(16);
const chunked = `${sizeHex}\r\n${goodBody}\r\n0\r\n\r\n`;
const json: Header = ['Content-Type', 'application/json'];
const te = (value: string): Header => ['Transfer-Encoding', value];
const length = (value: string): Header => ['Content-Length', value];

type Framing = { what: string; headers: Header[]; body: string; version?: string };

const lengths = [
  '+53',
  '-1',
  '53x',
  '0x35',
  '5 3',
  '53,53',
  '53, 53',
  '',
  '५३',
  '1e2',
  '53.0',
  '99999999999999999999',
  '18446744073709551669',
  '٥٣',
  '-53',
  '"53"',
];
const codings = [
  'gzip',
  'identity',
  'xchunked',
  'chunked, identity',
  'chunked, gzip',
  'gzip, chunked',
  'deflate, chunked',
  'chunked, chunked',
  'chunked;q=1',
  'chun ked',
  '"chunked"',
  'chunked,',
  ',chunked,x',
  'x',
];
const chunkSizes = ['zz', '-1', '0x5', '+5', '', ';', 'FFFFFFFFFFFFFFFFF', '5 5', 'g', '\0', '٥', '1.5'];

/** Requests whose end two readers could see in two places. None may be carried out. */
const framings: readonly ((random: Random) => Framing)[] = [
  () => ({ what: 'length and chunks', headers: [length(size), te('chunked')], body: chunked }),
  () => ({ what: 'chunks and length', headers: [te('chunked'), length('5')], body: chunked }),
  () => ({ what: 'two lengths', headers: [length(size), length('5')], body: goodBody }),
  () => ({ what: 'the same length twice', headers: [length(size), length(size)], body: goodBody }),
  random => ({ what: 'an odd length', headers: [length(random.pick(lengths))], body: goodBody }),
  random => ({ what: 'an odd coding', headers: [te(random.pick(codings))], body: chunked }),
  () => ({ what: 'two codings', headers: [te('identity'), te('chunked')], body: chunked }),
  () => ({ what: 'two codings', headers: [te('chunked'), te('identity')], body: chunked }),
  random => ({
    what: 'an odd chunk size',
    headers: [te('chunked')],
    body: `${random.pick(chunkSizes)}\r\n${goodBody}\r\n0\r\n\r\n`,
  }),
  () => ({ what: 'a chunk longer than its size', headers: [te('chunked')], body: `5\r\n${goodBody}\r\n0\r\n\r\n` }),
  () => ({ what: 'lines that end with LF', headers: [te('chunked')], body: chunked.replaceAll('\r\n', '\n') }),
  random => ({
    what: 'a huge chunk extension',
    headers: [te('chunked')],
    body: `${sizeHex};${'x'.repeat(16_400 + random.below(20_000))}\r\n${goodBody}\r\n0\r\n\r\n`,
  }),
  random => ({
    what: 'a huge trailer',
    headers: [te('chunked')],
    body: `${sizeHex}\r\n${goodBody}\r\n0\r\nX: ${'x'.repeat(17_000 + random.below(20_000))}\r\n\r\n`,
  }),
  () => ({
    what: 'a broken trailer',
    headers: [te('chunked')],
    body: `${sizeHex}\r\n${goodBody}\r\n0\r\nno colon\r\n\r\n`,
  }),
  () => ({ what: 'a space before the colon', headers: [['Content-Length ', size]], body: goodBody }),
  () => ({ what: 'a space before the colon', headers: [['Transfer-Encoding ', 'chunked']], body: chunked }),
  () => ({ what: 'a folded coding', headers: [['Transfer-Encoding', '\r\n chunked']], body: chunked }),
  random => ({
    what: 'an odd version',
    headers: [length(size)],
    body: goodBody,
    version: random.pick(['0.9', '2.0', '1.2', '3', '9.9', '1.1.1', '1', 'x', '', '1.1 x', '01.1', '1.10']),
  }),
];

export const badFraming = (random: Random, target: Target): Attack => {
  const { what, headers, body, version } = random.pick(framings)(random);
  const head = compose(target, { path, headers: [json, ...headers], ...(version === undefined ? {} : { version }) });
  return {
    category: 'framing',
    what: `${what}: ${JSON.stringify(headers).slice(0, 80)} ${version ?? ''}`,
    wire: Buffer.concat([head, Buffer.from(body)]),
    statuses: [400, 413, 415],
  };
};

/** Ends, or falls silent, before it is whole. */
export const truncated = (random: Random, target: Target): Attack => {
  const whole = compose(target, { path, body: goodBody });
  const bodyStart = whole.length - goodBody.length;
  const isChunked = random.next() < 0.2;
  const partial = Buffer.concat([
    compose(target, { path, headers: [json, te('chunked')] }),
    Buffer.from(chunked.slice(0, 1 + random.below(chunked.length - 1))),
  ]);
  const end = random.next() < 0.6 ? bodyStart + random.below(goodBody.length) : 1 + random.below(bodyStart - 1);
  return {
    category: 'truncated',
    what: isChunked ? 'chunks without an end' : `${end} of ${whole.length} bytes`,
    wire: isChunked ? partial : whole.subarray(0, end),
    ending: random.next() < 0.75 ? 'halfClose' : 'vanish',
    mayCut: true,
    statuses: [400],
  };
};

/** Falls silent and keeps the connection: the server must end it by itself. */
export const stalled = (random: Random, target: Target): Attack => {
  const attack = truncated(random, target);
  return { ...attack, category: 'stalled', ending: 'stall' };
};

// biome-ignore format: one list
const preambles = [
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-OpenSSH_9.9\r\n', 'EHLO localhost\r\n', 'GET /\r\n', 'GET / HTTP/1.1\r\nHost\r\n\r\n', 'HELP\r\n', '\0\0\0\0', '{"jsonrpc":"2.0"}\r\n',
  '*1\r\n$4\r\nPING\r\n', '\x80\x2e\x01\x03\x01', 'GET / HTTP/1.1\nHost: a\n\n\0', '<policy-file-request/>\0', '\x03\0\0\x13\x0e', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n',
];

export const garbage = (random: Random): Attack => {
  const isPlain = random.next() < 0.5;
  const isTls = isPlain && random.next() < 0.4;
  const noise = random.bytes(1 + random.below(2_000));
  // Blank lines before a request are allowed, and would only be skipped.
  if (noise[0] === 0x0d || noise[0] === 0x0a) noise[0] = 0;
  const hello = Buffer.concat([Buffer.from('16030102000100', 'hex'), noise]);
  const text = Buffer.from(random.pick(preambles), 'latin1');
  return {
    category: 'garbage',
    what: isTls ? 'a broken TLS handshake' : `bytes ${isPlain ? 'without' : 'inside'} TLS`,
    wire: isTls ? hello : random.next() < 0.5 ? noise : text,
    plain: isPlain,
    ending: 'halfClose',
    mayCut: true,
    statuses: [400, 403],
  };
};

export const plainHttp = (random: Random, target: Target): Attack => ({
  category: 'plain HTTP',
  what: `POST ${path} without TLS`,
  wire: compose(target, {
    path,
    body: random.next() < 0.8 ? goodBody : ' '.repeat(200_000),
    headers: random.next() < 0.2 ? [['X-Forwarded-Proto', 'https']] : [],
  }),
  plain: true,
  statuses: [403],
});
