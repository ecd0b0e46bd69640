import { type Attack, compose, type Target } from './attack.ts';
import { goodText } from './bodyAttacks.ts';
import type { Random } from './random.ts';
import { anyValue, nested } from './values.ts';

const attackOn = (
  category: string,
  target: Target,
  place: { method: string; path: string },
  body: Buffer | string,
  what: string,
): Attack => ({
  category,
  what: `${place.method} ${place.path} ${what}`,
  wire: compose(target, { method: place.method, path: place.path, body }),
  statuses: [400],
});

const cut = (text: string, random: Random): string => text.slice(0, 1 + random.below(text.length - 1));
const literals = [
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '-01',
  '0x10',
  '1.',
  '.5',
  '+1',
  '1e',
  '1e+',
  '--1',
  '1_0',
  '0b1',
  '٣',
  'True',
  "'x'",
  '`x`',
  '1n',
  '-',
];

/** Each turns a valid object into text that is no JSON. */
// biome-ignore format: one list
const spoilers: readonly ((text: string, random: Random) => string)[] = [
  cut,
  text => `${text.slice(0, -1)},}`,
  (text, random) => text + random.pick(['}', ']', ',', 'x', '{}', text, '\0', '//', '/**/', '"', '\u00a0', '\ufeff', '\u2028']),
  (text, random) => random.pick(['\ufeff', '\u00a0', ')]}\',\n', '\0', '/**/', '//\n', '<', ',', '\u000b', '\f', '+', 'data: ']) + text,
  text => text.replaceAll('"', "'"),
  text => text.replace(/"(\w+)":/, '$1:'),
  text => text.replace(':', '='),
  text => text.replace(':', '::'),
  text => text.replace(/[,}]/, ',,$&'),
  text => text.replace('{', '{,'),
  (text, random) => text.replace('{', `{"n":${random.pick(literals)},`),
  (text, random) => text.replace('{', `{"s":"${random.pick(['\n', '\t', '\0', '\r', '\u001f', '\\x41', '\\u12', '\\u{41}', '\\', '\\0', '\\a', "\\'"])}",`),
  (_text, random) => random.pick(['{', '[', '"', '{"', '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1,', '[1', '[1,', 'tru', 'nul', 'fals', '-', '\\', '\0', ' ', '\n\n', '\u00a0']),
  (_text, random) => random.pick(['a=1&b=2', '<xml/>', 'amount: 25', '%7B%7D', '--boundary\r\n', '{}{}', '[]\n[]', '{"a":1}\n{"a":2}']),
];

export const badSyntax = (random: Random, target: Target): Attack => {
  const place = goodText(random, target);
  const text = random.pick(spoilers)(place.text, random);
  return attackOn('JSON syntax', target, place, text, JSON.stringify(text).slice(0, 120));
};

/** Bytes that no UTF-8 text holds: overlong, surrogates, beyond U+10FFFF, lone and missing continuation bytes. */
// biome-ignore format: one list
const badUtf8 = [
  'c080', 'c0af', 'c1bf', 'e08080', 'e0809f', 'f0808080', 'f08fbfbf', 'eda080', 'edbfbf', 'eda080edb080', 'f4908080', 'f5808080', 'fc808080', 'ff', 'fe', '80', 'bf', 'c3', 'e282', 'f09f92', 'c328', 'fffe', 'feff',
].map(hex => Buffer.from(hex, 'hex'));
const loneSurrogates = [
  '\\ud800',
  '\\udfff',
  '\\uD83D',
  '\\udc00\\ud800',
  '\\ud800\\ud800',
  '\\ud800x',
  '\\ud83d\\u0041',
  '\\uDBFF\\\\udc00',
];

export const badUnicode = (random: Random, target: Target): Attack => {
  const place = goodText(random, target);
  const { text } = place;
  if (random.next() < 0.15) {
    const encoded = Buffer.from(text, 'utf16le');
    const marked = random.next() < 0.5 ? encoded : Buffer.concat([Buffer.from('fffe', 'hex'), encoded]);
    return attackOn(
      'unicode',
      target,
      place,
      random.next() < 0.5 ? marked : marked.subarray(0, marked.length - (marked.length % 2)).swap16(),
      'as UTF-16',
    );
  }
  // A place just inside a string: after a quote that opens one.
  const quotes = [...text.matchAll(/[{,:[]"/g)].map(match => match.index + 2);
  const at = random.pick(quotes);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  if (random.next() < 0.5) {
    const lone = random.pick(loneSurrogates);
    return attackOn('unicode', target, place, before + lone + after, `${lone} at ${at}`);
  }
  const bytes = random.pick(badUtf8);
  const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
  return attackOn('unicode', target, place, body, `bytes ${bytes.toString('hex')} at ${at}`);
};

const wide = (random: Random): string =>
  `{${Array.from({ length: 1_000 + random.below(3_000) }, (_, index) => `"${index * 31}":${index}`).join(',')}}`;

/** Small bodies that cost much to a careless reader. */
const bombs: readonly ((random: Random) => string)[] = [
  () => '['.repeat(60_000),
  () => '{"a":'.repeat(10_000),
  () => `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  random => nested(33 + random.below(10_000), random),
  random => `{"metadata":${nested(33 + random.below(5_000), random)},"amount":"1","currency":"USDC","network":"base"}`,
  random => wide(random),
  () => `{"x":${'9'.repeat(60_000)}}`,
  () => `{"x":1e${'9'.repeat(60_000)}}`,
  () => `{"x":0.${'0'.repeat(60_000)}1}`,
  () => `{"x":"${'\\u0061'.repeat(10_000)}"}`,
  () => `{"x":"${'\\\\'.repeat(30_000)}"}`,
  () => `{"amount":"${'1'.repeat(60_000)}","currency":"USDC","network":"base"}`,
  () => `{"amount":"1${'0'.repeat(60_000)}.${'0'.repeat(5_000)}","currency":"USDC","network":"base"}`,
  () => `{"amount":"25.00","currency":"${'ß'.repeat(30_000)}","network":"base"}`,
  () => `{"amount":"25.00","currency":"USDC","network":"base","redirectUrl":"https://${'a.'.repeat(30_000)}"}`,
  random => `{"${'k'.repeat(60_000)}":${anyValue(random)}}`,
  () => `${' '.repeat(65_000)}{`,
];

export const bomb = (random: Random, target: Target): Attack => {
  const body = random.pick(bombs)(random);
  const isTooLarge = Buffer.byteLength(body) > 65_536;
  const attack = attackOn(
    'bomb',
    target,
    { method: 'POST', path: '/v1/payments' },
    body,
    `${body.slice(0, 40)}… of ${body.length}`,
  );
  return { ...attack, statuses: isTooLarge ? [413] : [400] };
};

/** Around the limit of 64 KiB, and far past it. Padding is white space, so that the text stays valid JSON. */
export const oversized = (random: Random, target: Target): Attack => {
  const place = goodText(random, target);
  const luck = random.next();
  const limit = 65_536;
  const size =
    luck < 0.02
      ? 9 * 2 ** 20
      : luck < 0.1
        ? 2 ** 20
        : random.pick([limit - 1, limit, limit + 1, limit + 2, limit + 10_000]);
  // Up to the limit the size is no fault, so the text has one.
  const text = size > limit ? place.text : place.text.replace('{', '{"unknown":1,');
  const body = Buffer.alloc(size, ' ');
  body.write(text, size - Buffer.byteLength(text));
  const isChunked = size < 2 ** 20 && random.next() < 0.5;
  const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const head = compose(target, {
    ...place,
    headers: [
      ['Content-Type', 'application/json'],
      isChunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(size)],
    ],
  });
  return {
    category: 'size',
    what: `${place.method} ${place.path} ${size} bytes${isChunked ? ', chunked' : ''}`,
    wire: Buffer.concat([head, isChunked ? chunk : body]),
    statuses: [size > limit ? 413 : 400],
    // Past what is read and thrown away for politeness, the connection may be cut.
    ...(size > 8 * 2 ** 20 ? { mayCut: true } : {}),
  };
};

// biome-ignore format: one list
const mediaTypes = [
  'text/plain', 'text/json', 'application/jsonx', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', 'application/json; charset=utf-16',
  'application/json; charset=latin1', 'application/json; charset=', 'application/json;;', 'application/json, text/plain', 'json', '*/*', '', ';', '/', 'application/', 'application/vnd.api+json',
  'application/json; charset=utf-8; x=y', 'application/json; boundary=x', '\xe9', 'application\\json', 'application/json\x0bx', `application/${'x'.repeat(5_000)}`, 'application/json;'.repeat(500),
  'application/octet-stream', 'text/html; charset=utf-8', 'application/__proto__', '__proto__', 'constructor',
];
const encodings = [
  'gzip',
  'br',
  'deflate',
  'zstd',
  'compress',
  'x',
  'gzip, gzip',
  'identity, gzip',
  '*',
  'aes128gcm',
  `${'gzip,'.repeat(500)}`,
];

export const contentType = (random: Random, target: Target): Attack => {
  const place = goodText(random, target);
  const body = place.text;
  const isEncoding = random.next() < 0.3;
  const isAbsent = !isEncoding && random.next() < 0.1;
  const value = isEncoding ? random.pick(encodings) : random.pick(mediaTypes);
  return {
    category: 'content type',
    what: `${place.method} ${place.path} ${isAbsent ? 'no content type' : JSON.stringify(value).slice(0, 80)}`,
    wire: compose(target, {
      ...place,
      body,
      without: isEncoding ? [] : ['content-type'],
      headers: isAbsent ? [] : [[isEncoding ? 'Content-Encoding' : 'Content-Type', value]],
    }),
    // A control character is no content type but a broken header.
    statuses: !isAbsent && value.includes('\x0b') ? [400] : [415],
  };
};
